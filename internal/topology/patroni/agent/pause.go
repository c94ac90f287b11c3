package agent

import (
	"context"
	"log/slog"
	"time"

	"replab.dev/internal/agent/watch"
	"replab.dev/internal/wire"
)

// pauseInterval is the time between two looks at whether the managers are to be paused.
const pauseInterval = time.Second

// pause has the managers decide nothing any more once every node has its part. It goes on for good: whoever has the writes then sees to it.
func (m *Member) pause(ctx context.Context) {
	watch.Every(ctx, pauseInterval, func() {
		h := m.poller.last()
		m.mu.Lock()
		s := m.observed
		m.mu.Unlock()
		if !mayPause(m.cfg, m.self, s, h, time.Now()) {
			return
		}
		asking, cancel := context.WithTimeout(ctx, freshness)
		defer cancel()
		if err := m.client.Pause(asking); err != nil {
			slog.Warn("the managers could not be paused", "error", err)
		}
	})
}

// mayPause tells whether this node is to pause the managers: it has the writes, all others stream, and commits wait for as many of them as
// they are to. Managers that are paused no longer see to either.
func mayPause(cfg wire.ManagerConfig, self string, s Observation, h answers, now time.Time) bool {
	c, settings := h.cluster.value, h.settings.value
	return s.writes() && h.node.fresh(now) && !h.node.value.Paused && settings.Words != nil &&
		c.Leader == self && c.Streaming+1 >= cfg.PauseAt && c.Synchronous >= settings.Synchronous
}
