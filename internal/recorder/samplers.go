package recorder

import (
	"context"
	"time"

	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/wire"
)

// sampleTimeout bounds one sample of one node, so that a node that hangs misses samples and delays none.
const sampleTimeout = counters.Interval * 9 / 10

// addressOf returns host:port of a node's agent, or host or host:port of its server.
type addressOf func(wire.Node) string

// everyInterval calls sample at each interval until ctx ends.
func everyInterval(ctx context.Context, interval time.Duration, sample func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			sample(ctx)
		}
	}
}
