package agent

import (
	"context"
	"sync"
	"time"

	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/engine"
)

const (
	nodeInterval    = 250 * time.Millisecond
	clusterInterval = time.Second
	// settingsInterval is between two questions for settings that are known.
	settingsInterval = time.Minute
	askTimeout       = 500 * time.Millisecond
	// leaderStands is for how long after an answer the leader is told that it named: the next one comes clusterInterval and askTimeout later at
	// the latest.
	leaderStands = 2 * clusterInterval
)

// told is the last answer of one kind.
type told[T any] struct {
	value T
	asked time.Time // when the question was sent; zero without an answer
	at    time.Time
	err   error // of the last question
}

func (t told[T]) fresh(now time.Time) bool { return !t.asked.IsZero() && now.Sub(t.at) <= freshness }

// ears ask the manager again and again, and keep what it said last.
type ears struct {
	client engine.ManagerClient

	mu       sync.Mutex
	node     told[engine.ManagerNode]
	cluster  told[engine.ManagerCluster]
	settings told[engine.ManagerSettings]
	timeline int64 // of the last leader whose timeline was told
}

// run asks until ctx ends. A question that is not answered delays none of another kind.
func (e *ears) run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { repeat.Every(ctx, nodeInterval, func() { hear(ctx, e, &e.node, e.client.Node) }) })
	loops.Go(func() { repeat.Every(ctx, clusterInterval, func() { hear(ctx, e, &e.cluster, e.client.Cluster) }) })
	loops.Go(func() {
		repeat.Every(ctx, clusterInterval, func() {
			if known := e.last(); known.settings.err != nil || time.Since(known.settings.at) >= settingsInterval {
				hear(ctx, e, &e.settings, e.client.Settings)
			}
		})
	})
	loops.Wait()
}

// hear asks one question. What was told before stands where it is not answered.
func hear[T any](ctx context.Context, e *ears, into *told[T], ask func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	value, err := ask(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	into.err = err
	if err == nil {
		into.value, into.asked, into.at = value, asked, time.Now()
	}
	if e.cluster.value.LeaderTimeline != 0 {
		e.timeline = e.cluster.value.LeaderTimeline
	}
}

// heard is what the manager told last.
type heard struct {
	node     told[engine.ManagerNode]
	cluster  told[engine.ManagerCluster]
	settings told[engine.ManagerSettings]
	timeline int64
}

func (e *ears) last() heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	return heard{e.node, e.cluster, e.settings, e.timeline}
}

// leader is the node that holds the lock as the manager sees it at a moment; "" for none, and where it has not said of late: a manager that cannot
// ask its store answers of its own node alone.
func (h heard) leader(now time.Time) string {
	if h.cluster.asked.IsZero() || now.Sub(h.cluster.at) > leaderStands {
		return ""
	}
	return h.cluster.value.Leader
}

// sight puts together what the server and its manager have told. A lock stands for some time without its manager, which may be slow to
// answer: as long as that, the server is the writer's while it takes writes.
func (h heard) sight(l Look, now time.Time) Sight {
	stands := max(h.settings.value.TTL, freshness)
	return Sight{
		At: l.At, Server: l.Server, Position: l.Position,
		Holds:  h.node.value.Holds && now.Sub(h.node.at) <= stands,
		Leader: h.cluster.value.Leader, LeaderTimeline: h.timeline, LeaderAsked: h.cluster.asked,
		Answers: h.node.fresh(now), Copying: h.node.value.Copying, Untold: h.node.asked.IsZero(),
	}
}
