// Package repeat runs loops.
package repeat

import (
	"context"
	"sync"
	"time"
)

// Together calls all functions at once, and returns when the last one has.
func Together(ctx context.Context, all ...func(context.Context)) {
	var loops sync.WaitGroup
	for _, f := range all {
		loops.Go(func() { f(ctx) })
	}
	loops.Wait()
}

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
