package recorder

import (
	"context"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// inspectInterval is the time between two looks at a server's settings before the load: what stands in the results is at
	// most that old when the load begins.
	inspectInterval = 2 * time.Second
	// inspectTimeout bounds one look.
	inspectTimeout = 2 * time.Second
	// lastLooks is how often a server that does not answer is asked after the load, and lastLooksTimeout bounds all of it.
	lastLooks        = 10
	lastLooksTimeout = 15 * time.Second
)

// inspection learns what each node's server runs with: again and again until the load begins, and after it.
type inspection struct {
	engine.Inspector
	nodes    []wire.Node
	address  addressOf
	expected []wire.Setting
	pause    time.Duration // between two looks after the load

	mu            sync.Mutex
	begun         bool // the load
	before, after []inspected
}

// inspected is the last look at one node: what it found, or why it found nothing.
type inspected struct {
	engine.Inspection
	err string
}

func newInspection(cfg wire.RecorderConfig, address addressOf, inspector engine.Inspector) *inspection {
	i := &inspection{
		Inspector: inspector, nodes: cfg.Nodes, address: address, expected: cfg.Settings, pause: time.Second,
		before: make([]inspected, len(cfg.Nodes)), after: make([]inspected, len(cfg.Nodes)),
	}
	for n := range cfg.Nodes {
		i.before[n].err = "the load began before the server was asked"
	}
	return i
}

// watch looks at each node by itself until the load begins or ctx ends.
func (i *inspection) watch(ctx context.Context) {
	var watching sync.WaitGroup
	for n := range i.nodes {
		watching.Go(func() {
			ctx, enough := context.WithCancel(ctx)
			defer enough()
			everyInterval(ctx, inspectInterval, func(ctx context.Context) {
				if i.hasBegun() {
					enough()
					return
				}
				i.note(n, i.look(ctx, n))
			})
		})
	}
	watching.Wait()
}

// note keeps the latest answer of a node from before the load; an older one is better than none.
func (i *inspection) note(node int, found inspected) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if found.err == "" || i.before[node].err != "" {
		i.before[node] = found
	}
}

func (i *inspection) hasBegun() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.begun
}

// start tells that the load has begun: what is learnt now is too late. A look that is under way was asked for before.
func (i *inspection) start() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.begun = true
}

// lose replaces the readings from before the load, which an earlier recorder had. A look during the load does not stand for one before it.
func (i *inspection) lose() {
	i.start()
	i.mu.Lock()
	defer i.mu.Unlock()
	for n := range i.before {
		i.before[n] = inspected{err: "the reading before the load was lost when the recorder ended"}
	}
}

// finish looks at every node once more, and again where it does not answer.
func (i *inspection) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastLooksTimeout)
	defer cancel()
	var asked sync.WaitGroup
	for n := range i.nodes {
		asked.Go(func() { i.lookAgain(ctx, n) })
	}
	asked.Wait()
}

func (i *inspection) lookAgain(ctx context.Context, node int) {
	for range lastLooks {
		if i.after[node] = i.look(ctx, node); i.after[node].err == "" {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(i.pause):
		}
	}
}

func (i *inspection) look(ctx context.Context, node int) inspected {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	names := make([]string, len(i.expected))
	for s := range i.expected {
		names[s] = i.expected[s].Name
	}
	found, err := i.Inspect(ctx, i.address(i.nodes[node]), names)
	if err != nil {
		return inspected{err: err.Error()}
	}
	return inspected{Inspection: found}
}

// result is after finish.
func (i *inspection) result() []wire.NodeSettings {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []wire.NodeSettings
	for n := range i.nodes {
		before, after := i.before[n], i.after[n]
		s := wire.NodeSettings{
			Node: i.nodes[n].Name, Version: before.Version, Identity: before.Identity, Unread: before.err, UnreadAfter: after.err,
		}
		for _, expected := range i.expected {
			s.Settings = append(s.Settings, i.compare(expected, before, after))
		}
		all = append(all, s)
	}
	return all
}

// compare one setting of a server with what was expected, and with itself after the load.
func (i *inspection) compare(expected wire.Setting, before, after inspected) wire.SettingRead {
	r := wire.SettingRead{Setting: expected}
	was, had := before.Settings[expected.Name]
	if had {
		r.Actual, r.Differs = &was, !expected.AnyValue && !i.Same(expected.Name, expected.Value, was)
	}
	if is, has := after.Settings[expected.Name]; has && is != was && before.err == "" {
		r.Changed = &is
	}
	return r
}
