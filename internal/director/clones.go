package director

import (
	"context"
	"sync"
	"time"
)

// clones are the clones that this process runs.
type clones struct {
	mu   sync.Mutex
	runs map[string]*runningClone
	all  sync.WaitGroup
}

type runningClone struct {
	cloneRun
	ended  time.Time
	giveUp context.CancelFunc
}

func newClones() *clones { return &clones{runs: map[string]*runningClone{}} }

// start begins to rebuild a node, which takes minutes, unless it is known to be under way.
func (c *clones) start(ctx context.Context, w *watched, donor address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[w.Name] != nil {
		return
	}
	ctx, giveUp := context.WithCancel(ctx)
	run := &runningClone{cloneRun: cloneRun{Since: time.Now()}, giveUp: giveUp}
	c.runs[w.Name] = run
	c.all.Go(func() {
		defer giveUp()
		err := w.server.Clone(ctx, donor.source())
		c.mu.Lock()
		defer c.mu.Unlock()
		run.Done, run.Err, run.ended = true, err, time.Now()
	})
}

// of returns a copy of what is known of a node's clone to whoever looked at the node from that time on. A look that began before the clone
// had ended tells nothing of what came of it: to that one it is under way.
func (c *clones) of(name string, looked time.Time) *cloneRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[name] == nil {
		return nil
	}
	run := c.runs[name].cloneRun
	if !looked.After(c.runs[name].ended) {
		run.Done, run.Err = false, nil
	}
	return &run
}

// forget gives up on a node's clone, so that another may be started.
func (c *clones) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run := c.runs[name]; run != nil {
		run.giveUp()
		delete(c.runs, name)
	}
}

func (c *clones) wait() { c.all.Wait() }
