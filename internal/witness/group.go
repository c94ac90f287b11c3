package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
	"replab.dev/internal/witness/counters"
)

// GroupCounter reads what the server of one node counts as a member of a group.
type GroupCounter interface {
	// Counts returns the counters of the moment; it fails on a server that is no member.
	Counts(ctx context.Context) (engine.GroupCounts, error)
	io.Closer
}

// OpenGroup returns a counter of the node at a host, which may name a port. It connects to nothing yet.
type OpenGroup func(host, password string) (GroupCounter, error)

// CountsGroup makes an engine's constructor an OpenGroup.
func CountsGroup[C GroupCounter](open func(host, password string) (C, error)) OpenGroup {
	return func(host, password string) (GroupCounter, error) {
		c, err := open(host, password)
		if err != nil {
			return nil, err // and not a nil within an interface that is not nil
		}
		return c, nil
	}
}

// group samples the counters of all members.
type group struct {
	nodes    []string
	counters []GroupCounter
	now      func() time.Time
	counting func() bool                 // whether a stage is under way that is not discarded
	wrote    func() map[string]time.Time // when each node acknowledged its last write

	mu  sync.Mutex
	sum counters.Group
}

func newGroup(nodes []wire.Node, address addressOf, open OpenGroup, password string, d *door) (*group, error) {
	if open == nil {
		return nil, errors.New("the engine's servers form no groups, and the configuration wants what they count in one")
	}
	g := &group{now: d.now, counting: d.figures.Counting, wrote: d.outage.Writers}
	for _, node := range nodes {
		counter, err := open(address(node), password)
		if err != nil {
			return nil, fmt.Errorf("counters of the group's member %s: %w", node.Name, err)
		}
		g.nodes, g.counters = append(g.nodes, node.Name), append(g.counters, counter)
	}
	return g, nil
}

// watch samples each node by itself until ctx ends, so that one which hangs costs the others no sample.
func (g *group) watch(ctx context.Context) {
	var watching sync.WaitGroup
	for i := range g.nodes {
		watching.Go(func() {
			everyInterval(ctx, counters.Interval, func(ctx context.Context) { g.sampleNode(ctx, i) })
		})
	}
	watching.Wait()
}

// sample asks every node once.
func (g *group) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i := range g.nodes {
		asked.Go(func() { g.sampleNode(ctx, i) })
	}
	asked.Wait()
}

// sampleNode asks a node once; one that does not answer has no sample this time.
func (g *group) sampleNode(ctx context.Context, i int) {
	at, counting := g.now(), g.counting()
	limited, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	counts, err := g.counters[i].Counts(limited)
	if err != nil {
		return
	}
	wrote := g.wrote()[g.nodes[i]]
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sum.Add(g.nodes[i], at, counts, counting, wrote)
}

func (g *group) start(load time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sum.Start(load)
}

func (g *group) result() *wire.GroupResult {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &wire.GroupResult{Nodes: g.sum.Result(g.wrote())}
}

func (g *group) close() {
	for _, counter := range g.counters {
		_ = counter.Close() // it was only read from
	}
}
