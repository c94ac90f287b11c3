package recorder

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/wire"
)

// Counter reads a server's counters.
type Counter[C any] interface {
	// Counts returns the present counters, or an error if the server has none.
	Counts(ctx context.Context) (C, error)
	io.Closer
}

// OpenCounter returns a counter of the node at a host, which may name a port. It connects to nothing yet.
type OpenCounter[C any] func(host, password string) (Counter[C], error)

// Counts makes an engine's constructor an OpenCounter.
func Counts[C any, T Counter[C]](open func(host, password string) (T, error)) OpenCounter[C] {
	return func(host, password string) (Counter[C], error) {
		c, err := open(host, password)
		if err != nil {
			return nil, err // and not a nil within an interface that is not nil
		}
		return c, nil
	}
}

// sum adds the samples of all nodes up.
type sum[C, R any] interface {
	Start(load time.Time)
	Add(counters.Sample[C])
	Result(wrote map[string]time.Time) R
}

// commits samples counters of commits, group those of members of a group.
type (
	commits = sampler[engine.Commits, *wire.CommitsResult]
	group   = sampler[engine.GroupCounts, *wire.GroupResult]
)

// commitInterval is how often the writer's commit counters are sampled: what it counts after its last sample is lost with it. Other nodes have one
// a second.
const commitInterval = 100 * time.Millisecond

func newCommits(cfg wire.RecorderConfig, env environment, password string, d *forwarder) (*commits, error) {
	return newSampler[engine.Commits]("commits", cfg.Nodes, env.server, env.engine.Commits, password, d, &counters.Commits{}, commitInterval)
}

func newGroup(cfg wire.RecorderConfig, env environment, password string, d *forwarder) (*group, error) {
	return newSampler[engine.GroupCounts]("groups", cfg.Nodes, env.server, env.engine.Group, password, d, &counters.Group{}, counters.Interval)
}

// sampler samples the counters of all nodes.
type sampler[C, R any] struct {
	nodes    []string
	counters []Counter[C]
	now      func() time.Time
	counting func() bool                 // whether a stage is under way that is not discarded
	wrote    func() map[string]time.Time // when each node acknowledged its last write
	often    time.Duration               // between two samples of a node that may take the writes; of others it is counters.Interval

	mu  sync.Mutex
	sum sum[C, R]
}

// newSampler of what the error names. open is nil for engines without such counters.
func newSampler[C, R any](what string, nodes []wire.Node, address addressOf, open OpenCounter[C], password string, d *forwarder, sum sum[C, R], often time.Duration) (*sampler[C, R], error) {
	if open == nil {
		return nil, fmt.Errorf("the configuration asks for counters of %s, and this engine has none: a bug in replab", what)
	}
	s := &sampler[C, R]{now: d.now, counting: d.figures.Counting, wrote: d.outage.Writers, sum: sum, often: often}
	for _, node := range nodes {
		counter, err := open(address(node), password)
		if err != nil {
			return nil, fmt.Errorf("counters of node %s: %w", node.Name, err)
		}
		s.nodes, s.counters = append(s.nodes, node.Name), append(s.counters, counter)
	}
	return s, nil
}

// watch samples each node by itself until ctx ends, so that one which hangs costs the others no sample.
func (s *sampler[C, R]) watch(ctx context.Context) {
	var watching sync.WaitGroup
	for i := range s.nodes {
		watching.Go(func() {
			var last time.Time
			everyInterval(ctx, s.often, func(ctx context.Context) {
				due := last.Add(counters.Interval - s.often/2) // by the tick that is nearest to the interval
				if now := s.now(); now.After(due) || s.mayTakeWrites(s.nodes[i]) {
					last = now
					s.sampleNode(ctx, i)
				}
			})
		})
	}
	watching.Wait()
}

// mayTakeWrites reports whether no other node acknowledged a later write.
func (s *sampler[C, R]) mayTakeWrites(node string) bool {
	wrote := s.wrote()
	for _, other := range s.nodes {
		if wrote[other].After(wrote[node]) {
			return false
		}
	}
	return true
}

// sampleNode asks a node once; of one that does not answer it is noted that it was asked.
func (s *sampler[C, R]) sampleNode(ctx context.Context, i int) {
	sample := counters.Sample[C]{Node: s.nodes[i], At: s.now(), Counting: s.counting()}
	limited, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	var err error
	sample.Counts, err = s.counters[i].Counts(limited)
	sample.Missed = err != nil
	sample.Wrote = s.wrote()[sample.Node]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Add(sample)
}

// start begins to count. load is when the load began.
func (s *sampler[C, R]) start(load time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Start(load)
}

// sample asks every node once.
func (s *sampler[C, R]) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i := range s.nodes {
		asked.Go(func() { s.sampleNode(ctx, i) })
	}
	asked.Wait()
}

// finish asks every node a last time.
func (s *sampler[C, R]) finish(ctx context.Context) {
	s.sample(ctx)
	for _, counter := range s.counters {
		_ = counter.Close() // it was only read from
	}
}

func (s *sampler[C, R]) result() R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.Result(s.wrote())
}

// sampleTimeout bounds one sample of one node.
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
