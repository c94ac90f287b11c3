package audit

import (
	"context"
	"time"
)

const (
	attemptTimeout = 5 * time.Second // of one try to reach something
	retryPause     = 200 * time.Millisecond
)

// retry calls try until it succeeds. Once ctx has ended it returns the last error that is not merely that end.
func retry(ctx context.Context, try func() error) error {
	var why error
	for {
		err := try()
		if err == nil {
			return nil
		}
		if why == nil || ctx.Err() == nil {
			why = err
		}
		select {
		case <-ctx.Done():
			return why
		case <-time.After(retryPause):
		}
	}
}
