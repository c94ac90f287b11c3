package topology

import (
	"cmp"
	"slices"

	"replab.dev/internal/wire"
)

// Switchovers are the planned changes that nodes tell of which were asked to give the writes away, each by its own agent's clock. waits is what one
// waits for that is under way.
func Switchovers(all []Testimony, waits string) []Switchover {
	outcomes := map[string]SwitchoverOutcome{wire.SwitchoverDone: SwitchoverDone, wire.SwitchoverFailed: SwitchoverFailed}
	var found []Switchover
	for _, a := range all {
		for _, s := range a.Switchovers {
			o := Switchover{Name: s.Name, Clock: a.Node, RequestedAt: s.RequestedAt, OldWriter: a.Node, NewWriter: s.To, Outcome: outcomes[s.Outcome], Why: s.Why}
			if s.Outcome == "" {
				o.Why = cmp.Or(s.Why, waits)
			}
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b Switchover) int { return a.RequestedAt.Compare(b.RequestedAt.Time) })
	return found
}
