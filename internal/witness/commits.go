package witness

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
	"replab.dev/internal/witness/counters"
)

// commitInterval is how often the commit counters of the node that takes the writes are sampled. What a primary counts after
// its last sample dies with it, so it is short; a sample takes the server processor time, so the others have one a second.
const commitInterval = 100 * time.Millisecond

// CommitCounter reads the counters of one node's server.
type CommitCounter interface {
	// Commits returns the counters of the moment; it fails on a server that has none.
	Commits(ctx context.Context) (engine.Commits, error)
	io.Closer
}

// OpenCommits returns a counter of the node at a host, which may name a port. It connects to nothing yet.
type OpenCommits func(host, password string) (CommitCounter, error)

// CountsCommits makes an engine's constructor an OpenCommits.
func CountsCommits[C CommitCounter](open func(host, password string) (C, error)) OpenCommits {
	return func(host, password string) (CommitCounter, error) {
		c, err := open(host, password)
		if err != nil {
			return nil, err // and not a nil within an interface that is not nil
		}
		return c, nil
	}
}

// commits samples the commit counters of all nodes.
type commits struct {
	nodes    []string
	counters []CommitCounter
	now      func() time.Time
	wrote    func() map[string]time.Time // when each node acknowledged its last write

	mu  sync.Mutex
	sum counters.Commits
}

func newCommits(nodes []wire.Node, address addressOf, open OpenCommits, password string, d *door) (*commits, error) {
	s := &commits{now: d.now, wrote: d.outage.Writers}
	for _, node := range nodes {
		counter, err := open(address(node), password)
		if err != nil {
			return nil, fmt.Errorf("commit counters of node %s: %w", node.Name, err)
		}
		s.nodes, s.counters = append(s.nodes, node.Name), append(s.counters, counter)
	}
	return s, nil
}

// watch samples each node by itself until ctx ends, so that one which hangs costs the others no sample.
func (s *commits) watch(ctx context.Context) {
	var watching sync.WaitGroup
	for i := range s.nodes {
		watching.Go(func() {
			var last time.Time
			everyInterval(ctx, commitInterval, func(ctx context.Context) {
				if now := s.now(); now.Sub(last) >= counters.Interval || s.mayTakeWrites(s.nodes[i]) {
					last = now
					s.sampleNode(ctx, i)
				}
			})
		})
	}
	watching.Wait()
}

// mayTakeWrites tells whether a node is the last to have acknowledged a write, or none of the nodes is known to have.
func (s *commits) mayTakeWrites(node string) bool {
	wrote := s.wrote()
	for _, other := range s.nodes {
		if wrote[other].After(wrote[node]) {
			return false
		}
	}
	return true
}

// sample asks every node once.
func (s *commits) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i := range s.nodes {
		asked.Go(func() { s.sampleNode(ctx, i) })
	}
	asked.Wait()
}

// sampleNode asks a node once; one that does not answer has no sample this time.
func (s *commits) sampleNode(ctx context.Context, i int) {
	at := s.now()
	limited, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	commits, err := s.counters[i].Commits(limited)
	if err != nil {
		return
	}
	wrote := s.wrote()[s.nodes[i]]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Add(s.nodes[i], at, commits, wrote)
}

func (s *commits) start(load time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.Start(load)
}

func (s *commits) result() *wire.CommitsResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.Result(s.wrote())
}

func (s *commits) close() {
	for _, counter := range s.counters {
		_ = counter.Close() // it was only read from
	}
}
