package director

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// decision is what follows from a situation. Either State holds a new intent, to be stored before the next look, or Act
// is to be done now, or neither. In each case State describes the nodes as they were seen.
type decision struct {
	State  wire.DirectorState
	Intent bool
	Act    act
	// Renew names the node whose lease may be renewed until the next decision; empty for none.
	Renew string
	// Within bounds the pause before the next look, when something is known to be due; 0 without.
	Within time.Duration
}

// decide is the director's whole policy. It is pure.
func decide(cfg wire.DirectorConfig, state wire.DirectorState, v view) decision {
	s := &situation{cfg: cfg, state: copyState(state), view: v}
	s.assess()
	for _, rule := range rules {
		if rule(s) {
			break
		}
	}
	return decision{State: s.state, Intent: s.intent, Act: s.act, Renew: s.renewable(), Within: s.within}
}

// rules run in order until one returns true: that one has decided.
var rules = []func(*situation) bool{
	chooseFirst,
	finishFailover,
	bootstrap,
	detectFailure,
	switchOver,
	keepOpen,
	fenceIntruders,
	stopIsolated,
	rebuild,
	followPrimary,
}

// situation is a decision in the making.
type situation struct {
	cfg   wire.DirectorConfig
	state wire.DirectorState
	view  view

	intent bool
	act    act
	within time.Duration
}

// record makes the changes of state that were made so far an intent: nothing is done before it is stored.
func (s *situation) record() bool {
	s.intent = true
	return true
}

// do decides on an act, unless it has just failed: then the rules after this one get their turn.
func (s *situation) do(kind actKind, node string) bool { return s.doAct(act{Kind: kind, Node: node}) }

func (s *situation) doAct(a act) bool {
	if a == s.view.Failed {
		return false
	}
	s.act = a
	return true
}

// say notes for people what the director waits for. Only the first text is kept.
func (s *situation) say(format string, args ...any) {
	if s.state.Message == "" {
		s.state.Message = fmt.Sprintf(format, args...)
	}
}

// lookWithin asks for the next look not later than d from now.
func (s *situation) lookWithin(d time.Duration) {
	if d > 0 && (s.within == 0 || d < s.within) {
		s.within = d
	}
}

func (s *situation) now() metav1.MicroTime { return microTime(s.view.Now) }

// see returns the last look at a node.
func (s *situation) see(name string) observation { return s.view.Nodes[name] }

func (s *situation) primary() observation { return s.see(s.state.Primary) }

func (s *situation) node(name string) *wire.NodeView {
	i := slices.IndexFunc(s.state.Nodes, func(n wire.NodeView) bool { return n.Name == name })
	return &s.state.Nodes[i]
}

// failover returns the failover that made the present epoch; nil while the first primary is in office.
func (s *situation) failover() *wire.DirectedFailover {
	if n := len(s.state.Failovers); n > 0 && s.state.Failovers[n-1].Epoch == s.state.Epoch {
		return &s.state.Failovers[n-1]
	}
	return nil
}

// failing tells that so many looks in a row failed that the node counts as lost.
func (s *situation) failing(name string) bool {
	return s.see(name).FailedLooks >= s.cfg.FailureThreshold
}

// healthy tells that the last look at a node did not fail.
func (s *situation) healthy(name string) bool {
	o := s.see(name)
	return o.Answers && o.FailedLooks == 0
}

// canFailOver tells whether there could ever be another primary.
func (s *situation) canFailOver() bool { return s.cfg.Failover && len(s.cfg.Nodes) > 1 }

// renewable returns the primary when its lease may be renewed: it is open, and the last look was good. A look that
// fails lets the lease run on to its end, so that it ends early where a failover has to wait for it. Without failover
// no node waits for the end.
func (s *situation) renewable() string {
	if !s.state.Opened || (!s.healthy(s.state.Primary) && s.canFailOver()) {
		return ""
	}
	if w := s.switchover(); w != nil && w.To != "" { // it is closed, or about to be
		return ""
	}
	return s.state.Primary
}

// setAside tells that a node is kept apart: it was a primary, or it has transactions of its own, and was not rebuilt.
func (s *situation) setAside(name string) bool {
	if name == s.state.Primary {
		return false
	}
	n := s.node(name)
	return n.Rejoin != wire.RejoinDone && (s.wasLost(name) || n.Role == wire.RoleIsolated)
}

// wasLost tells that a node was a primary and did not step down as planned: it may have transactions that no other node has.
func (s *situation) wasLost(name string) bool {
	return slices.ContainsFunc(s.state.Failovers, func(f wire.DirectedFailover) bool { return f.OldPrimary == name && !f.Planned })
}

// replicas returns the names of the nodes that are neither primary nor kept apart, by ordinal.
func (s *situation) replicas() []string {
	var names []string
	for _, n := range s.cfg.Nodes {
		if n.Name != s.state.Primary && !s.setAside(n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// liveReplicas are the replicas whose last look was good.
func (s *situation) liveReplicas() []string {
	return slices.DeleteFunc(s.replicas(), func(name string) bool { return !s.healthy(name) })
}

// ahead returns the live replicas that received something that is not in a position.
func (s *situation) ahead(of engine.Position) []string {
	return slices.DeleteFunc(s.liveReplicas(), func(r string) bool { return of.Contains(s.see(r).Received) })
}

func copyState(state wire.DirectorState) wire.DirectorState {
	state.Nodes = slices.Clone(state.Nodes)
	state.Failovers = slices.Clone(state.Failovers)
	state.Switchovers = slices.Clone(state.Switchovers)
	state.Absences = slices.Clone(state.Absences)
	return state
}

func microTime(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t.UTC()) }

func list(names []string) string { return strings.Join(names, ", ") }
