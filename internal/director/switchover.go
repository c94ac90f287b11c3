package director

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

const (
	// switchoverLimit is how long a planned change may take until the old primary takes the writes again: until then no node does.
	switchoverLimit = 10 * time.Second
	// switchoverLook is the time between two looks while no node takes writes.
	switchoverLook = 10 * time.Millisecond
)

// switchover returns the one that is under way, nil without.
func (s *situation) switchover() *wire.Switchover {
	if n := len(s.state.Switchovers); n > 0 && s.state.Switchovers[n-1].Outcome == "" {
		return &s.state.Switchovers[n-1]
	}
	return nil
}

// switchOver takes a planned change of the primary one step on: a candidate chosen, the primary closed, the candidate caught up.
// After that it is a failover like any other, whose old primary is fenced and has nothing of its own. Until then the primary stays
// what it is, and is opened again where the rest cannot be had in time.
func switchOver(s *situation) bool {
	w := s.switchover()
	if w == nil || w.Epoch != 0 || !s.state.Opened {
		return false
	}
	left := switchoverLimit - s.view.Now.Sub(w.RequestedAt.Time)
	switch {
	case left <= 0:
		s.failSwitchover(fmt.Sprintf("not done within %s: %s", switchoverLimit, lacking(w)))
		return s.record()
	case w.To != "" && s.failing(w.To):
		s.failSwitchover(w.To + ", which was to be primary, was lost")
		return s.record()
	}
	if why := s.prepare(w); why != "" {
		s.say("%s", why)
		s.lookWithin(min(left, switchoverLook))
	}
	return true
}

// lacking says what one that is not done in time lacks.
func lacking(w *wire.Switchover) string {
	switch {
	case w.To == "":
		return "there was no live replica to promote"
	case w.ClosedAt == nil:
		return w.From + " could not be closed"
	}
	return w.To + " had not applied all that " + w.From + " had"
}

// prepare decides on the next step, an act or an intent, or says what has to be waited for.
func (s *situation) prepare(w *wire.Switchover) (why string) {
	from := s.see(w.From)
	switch {
	case w.To == "":
		if w.To, why = s.candidate(); w.To != "" {
			s.record()
			return ""
		}
		return why
	case !s.healthy(w.From):
		return "waits to know whether " + w.From + " answers"
	case from.Writable:
		if s.do(actShut, w.From) {
			return ""
		}
		return w.From + " could not be closed"
	case w.ClosedAt == nil: // what this look found executed may be older than its being closed
		at := s.now()
		w.ClosedAt = &at
		s.record()
		return ""
	case !s.healthy(w.To):
		return "waits to know whether " + w.To + " answers"
	case !s.see(w.To).Executed.Contains(from.Executed):
		return "waits until " + w.To + " has applied all that " + w.From + " has"
	}
	s.handOver(w)
	return ""
}

// handOver writes the intent to open the candidate.
func (s *situation) handOver(w *wire.Switchover) {
	at := s.now()
	s.state.Epoch++
	s.state.Primary, s.state.Opened = w.To, false
	w.Epoch = s.state.Epoch
	s.state.Failovers = append(s.state.Failovers, wire.DirectedFailover{
		Epoch: w.Epoch, OldPrimary: w.From, NewPrimary: w.To, Planned: true,
		FirstFailureAt: w.RequestedAt, DetectedAt: w.RequestedAt, ChosenAt: &w.RequestedAt, FencedAt: w.ClosedAt,
		AppliedAt: &at, Message: "switchover " + w.Name,
	})
	s.record()
}

// steppedDown tells that a node is the primary before a planned change that is not behind: it has all, and no source yet.
func (s *situation) steppedDown(name string) bool {
	n := len(s.state.Failovers)
	return n > 0 && s.state.Failovers[n-1].Planned && s.state.Failovers[n-1].OldPrimary == name
}

// endSwitchover notes that the one under way is done.
func (s *situation) endSwitchover() {
	w := s.switchover()
	if w == nil || w.Epoch == 0 || w.Epoch != s.state.Epoch || !s.state.Opened {
		return
	}
	w.Outcome = wire.SwitchoverDone
	if f := s.failover(); f != nil {
		w.EndedAt = f.PromotedAt // absent where the director did not see it
	}
}

// failSwitchover notes that the one under way came to nothing.
func (s *situation) failSwitchover(why string) {
	if w := s.switchover(); w != nil {
		at := s.now()
		w.Outcome, w.EndedAt, w.Why = wire.SwitchoverFailed, &at, why
	}
}

// acceptSwitchover notes in the state that another primary is asked for. The error says why not.
func acceptSwitchover(cfg wire.DirectorConfig, state wire.DirectorState, r wire.SwitchoverRequest, now metav1.MicroTime) (wire.DirectorState, error) {
	state = copyState(state)
	if r.Name == "" || !slices.ContainsFunc(cfg.Nodes, func(n wire.Node) bool { return n.Name == r.From }) {
		return state, fmt.Errorf("%w: %q, in switchover %q; name both", errNoSuchNode, r.From, r.Name)
	}
	for _, w := range state.Switchovers {
		switch {
		case w.Name == r.Name:
			return state, nil // asked before
		case w.Outcome == "":
			return state, fmt.Errorf("%w: switchover %s is under way", errNotNow, w.Name)
		}
	}
	switch {
	case !cfg.Failover || len(cfg.Nodes) < 2:
		return state, fmt.Errorf("%w: no other node may become primary", errNotNow)
	case !state.Configured || !state.Opened:
		return state, fmt.Errorf("%w: no primary is open", errNotNow)
	case state.Primary != r.From:
		return state, fmt.Errorf("%w: %s is not the primary, %s is", errNotNow, r.From, state.Primary)
	}
	state.Switchovers = append(state.Switchovers, wire.Switchover{Name: r.Name, From: r.From, RequestedAt: now})
	return state, nil
}
