package director

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// noteAbsences keeps account of when nodes leave their places and are back.
func (s *situation) noteAbsences() {
	if !s.state.Configured {
		return
	}
	for _, n := range s.cfg.Nodes {
		away := openAbsence(&s.state, n.Name)
		switch {
		case away == nil && !s.inPlace(n.Name):
			a := wire.DirectedAbsence{Node: n.Name, Absence: wire.Absence{LeftAt: s.now()}}
			if o := s.see(n.Name); !o.FailingSince.IsZero() {
				a.LeftAt = microTime(o.FailingSince)
			}
			s.state.Absences = append(s.state.Absences, a)
		case away != nil && s.inPlace(n.Name) && s.hasAll(n.Name):
			at := s.now()
			if away.BackAt = &at; away.RequestedAt != nil && away.Resync == nil {
				away.Resync = &v1alpha1.ResyncStatus{}
			}
		}
	}
	for len(s.state.Absences) > wire.MaxAbsences {
		oldest := max(0, slices.IndexFunc(s.state.Absences, func(a wire.DirectedAbsence) bool { return a.BackAt != nil }))
		s.state.Absences = slices.Delete(s.state.Absences, oldest, oldest+1)
	}
}

// inPlace tells that the last look found a node open as the primary, or following it.
func (s *situation) inPlace(name string) bool {
	o := s.see(name)
	if name == s.state.Primary {
		return s.state.Opened && s.healthy(name) && o.Writable
	}
	return s.healthy(name) && s.node(name).Role == wire.RoleReader && o.Source == s.state.Primary && o.follows()
}

// hasAll tells that a node has executed what the primary had by the look before the last: under load it never has what the primary
// has just executed.
func (s *situation) hasAll(name string) bool {
	if name == s.state.Primary {
		return true
	}
	before := s.primary().ExecutedBefore
	return s.healthy(s.state.Primary) && before.Transactions() != nil && s.see(name).Executed.Contains(before)
}

// openAbsence of a node in a state, nil while it is in its place.
func openAbsence(state *wire.DirectorState, node string) *wire.DirectedAbsence {
	for i := range state.Absences {
		if a := &state.Absences[i]; a.Node == node && a.BackAt == nil {
			return a
		}
	}
	return nil
}
