package director

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// rebuildNode takes a node one step from being kept apart to being a replica. A clone is begun again when this process
// knows of none: that costs time, and is right whatever became of the one that an earlier director began.
func (s *situation) rebuildNode(n *wire.NodeView) bool {
	o := s.see(n.Name)
	switch {
	case s.healthy(n.Name) && o.started() && o.Source == s.state.Primary:
		n.Rejoin, n.Role, n.Why = wire.RejoinDone, wire.RoleReader, ""
		return false
	case s.rebuildOverdue(o):
		return s.rebuildFailed(n, fmt.Sprintf("the rebuilding took longer than %d ms", s.cfg.RejoinMaxMilliseconds))
	case o.Clone != nil && o.Clone.Done && o.Clone.Err != nil:
		return s.rebuildFailed(n, o.Clone.Err.Error())
	case !s.healthy(n.Name), o.Clone != nil && !o.Clone.Done, o.CloneState == engine.CloneInProgress:
		n.Why = "is being cloned"
		return false
	case o.Clone == nil:
		return s.doAct(act{Kind: actClone, Node: n.Name, From: s.donor()})
	case o.CloneState != engine.CloneCompleted:
		return s.rebuildFailed(n, fmt.Sprintf("the server says of its clone %q: %s", o.CloneState, cmp.Or(o.CloneError, "no reason")))
	case !s.primary().Executed.Contains(o.Executed):
		return s.rebuildFailed(n, "the clone has transactions that the primary has not")
	}
	if away := openAbsence(&s.state, n.Name); away != nil && o.Cloned != nil {
		away.Resync = &v1alpha1.ResyncStatus{DurationMilliseconds: &o.Cloned.Milliseconds, ReceivedBytes: &o.Cloned.ReceivedBytes}
	}
	return s.attach(n.Name)
}

func (s *situation) rebuildOverdue(o observation) bool {
	limit := time.Duration(s.cfg.RejoinMaxMilliseconds) * time.Millisecond
	return o.Clone != nil && s.view.Now.Sub(o.Clone.Since) > limit
}

func (s *situation) rebuildFailed(n *wire.NodeView, why string) bool {
	n.Rejoin, n.Why = wire.RejoinFailed, why+"; ask for /rejoin to try again"
	return s.record()
}

// donor is the node to clone from: a replica that is caught up, so that the primary is left alone, else the primary.
func (s *situation) donor() string {
	for _, r := range s.liveReplicas() {
		if o := s.see(r); o.follows() && o.Source == s.state.Primary && s.node(r).CaughtUp {
			return r
		}
	}
	return s.state.Primary
}

// acceptRejoin notes in the state that a node is to be rebuilt. The error says why not.
func acceptRejoin(state wire.DirectorState, name string, now metav1.MicroTime) (wire.DirectorState, error) {
	state = copyState(state)
	for i := range state.Nodes {
		n := &state.Nodes[i]
		switch {
		case n.Name != name:
			continue
		case n.Rejoin == wire.RejoinRequested, n.Rejoin == wire.RejoinCloning, n.Rejoin == wire.RejoinDone && n.Role == wire.RoleReader:
			return state, nil // asked before
		case n.Role != wire.RoleIsolated:
			return state, fmt.Errorf("%w: node %s is %s; only an isolated node is rebuilt", errNotNow, name, n.Role)
		case n.GhostTransactions == nil:
			return state, fmt.Errorf("%w: the ghosts of node %s are not counted yet; ask again", errNotNow, name)
		}
		n.Rejoin, n.Why = wire.RejoinRequested, ""
		if a := openAbsence(&state, name); a != nil {
			a.RequestedAt = &now
		}
		return state, nil
	}
	return state, fmt.Errorf("%w: %q", errNoSuchNode, name)
}

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
