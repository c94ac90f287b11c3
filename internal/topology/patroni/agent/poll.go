package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	nodeInterval    = 250 * time.Millisecond
	clusterInterval = time.Second
	// settingsInterval is between two questions for settings that are known.
	settingsInterval = time.Minute
	askTimeout       = 500 * time.Millisecond
	// leaderStands is for how long after an answer the leader that it named stands: the next one comes clusterInterval and askTimeout later at
	// the latest.
	leaderStands = 2 * clusterInterval
)

// answer is the last one of its kind.
type answer[T any] struct {
	value T
	asked time.Time // when the question was sent; zero without an answer
	at    time.Time
	err   error // of the last question
}

func (a answer[T]) fresh(now time.Time) bool { return !a.asked.IsZero() && now.Sub(a.at) <= freshness }

// answers are what the manager said last.
type answers struct {
	node     answer[engine.ManagerNode]
	cluster  answer[engine.ManagerCluster]
	settings answer[engine.ManagerSettings]
	timeline int64 // of the last leader whose timeline is known
}

// poller asks the manager again and again.
type poller struct {
	client engine.ManagerClient

	mu sync.Mutex
	answers
}

// run asks until ctx ends. A question that is not answered delays none of another kind.
func (p *poller) run(ctx context.Context) {
	watch.Together(ctx,
		func(ctx context.Context) {
			watch.Every(ctx, nodeInterval, func() { poll(ctx, p, &p.node, p.client.Node) })
		},
		func(ctx context.Context) {
			watch.Every(ctx, clusterInterval, func() { poll(ctx, p, &p.cluster, p.client.Cluster) })
		},
		func(ctx context.Context) {
			watch.Every(ctx, clusterInterval, func() {
				if known := p.last(); known.settings.err != nil || time.Since(known.settings.at) >= settingsInterval {
					poll(ctx, p, &p.settings, p.client.Settings)
				}
			})
		})
}

// poll asks one question. The answer before stands where there is none.
func poll[T any](ctx context.Context, p *poller, into *answer[T], ask func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	value, err := ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	into.err = err
	if err == nil {
		into.value, into.asked, into.at = value, asked, time.Now()
	}
	if p.cluster.value.LeaderTimeline != 0 {
		p.timeline = p.cluster.value.LeaderTimeline
	}
}

func (p *poller) last() answers {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers
}

// leader is the node that holds the lock as the manager sees it at a moment; "" for none, and where it has not said of late: a manager that cannot
// ask its store answers of its own node alone.
func (h answers) leader(now time.Time) string {
	if h.cluster.asked.IsZero() || now.Sub(h.cluster.at) > leaderStands {
		return ""
	}
	return h.cluster.value.Leader
}

// observation puts together what the server and its manager have told. A lock stands for some time without its manager, which may be slow to
// answer: as long as that, the server is the writer's while it takes writes.
func (h answers) observation(l Look, now time.Time) Observation {
	stands := max(h.settings.value.TTL, freshness)
	return Observation{
		At: l.At, Asked: l.Asked, Server: l.Server, Position: l.Position,
		Holds:  h.node.value.Holds && now.Sub(h.node.at) <= stands,
		Leader: h.cluster.value.Leader, LeaderTimeline: h.timeline, LeaderAsked: h.cluster.asked,
		Answers: h.node.fresh(now), Copying: h.node.value.Copying, Untold: h.node.asked.IsZero(),
	}
}

// pauseInterval is the time between two looks at whether the managers are to be paused.
const pauseInterval = time.Second

// pause has the managers decide nothing any more once every node has its part. It never ends: the writer of the moment sees to it.
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
			slog.Warn("Patroni could not be paused", "error", err)
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
