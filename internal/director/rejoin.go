package director

import (
	"fmt"
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
		return s.rebuildFailed(n, fmt.Sprintf("the server says of its clone %q: %s", o.CloneState, firstOf(o.CloneError, "no reason")))
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

// acceptRejoin notes in the state that a node is to be rebuilt. It returns why not, for the one who asked.
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
