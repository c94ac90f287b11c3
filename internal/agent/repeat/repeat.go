// Package repeat does something again and again.
package repeat

import (
	"context"
	"time"
)

// Every calls f at the interval, and at once where the last call took longer, until ctx ends. It calls f once at least.
func Every(ctx context.Context, interval time.Duration, f func()) {
	for {
		next := time.NewTimer(interval)
		f()
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}
