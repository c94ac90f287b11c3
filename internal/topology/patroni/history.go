package patroni

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/topology"
)

// switchoverSpan is how long after it was asked for another node may take the writes by a switchover: longer than Patroni tries. As much
// as slack before it may seem to have, since nodes have clocks of their own.
const (
	switchoverSpan  = time.Minute
	switchoverSlack = 5 * time.Second
)

// since is when the last of a node's terms as the writer began, zero for one that had none.
func (m member) since() time.Time {
	if m.told == nil || len(m.told.Terms) == 0 {
		return time.Time{}
	}
	return m.told.Terms[len(m.told.Terms)-1].From.Time
}

// markFailovers marks all as found by looks, and as planned those that switchovers came to: of each the first from the node that was asked, to
// the one that it named.
func markFailovers(s topology.State) {
	for i := range s.Failovers {
		s.Failovers[i].Seen = true
	}
	for _, w := range s.Switchovers {
		if w.Outcome == topology.SwitchoverFailed {
			continue
		}
		i := slices.IndexFunc(s.Failovers, func(f topology.Failover) bool {
			after := f.PromotedAt.Sub(w.RequestedAt.Time)
			return !f.Planned && f.OldWriter == w.OldWriter && (w.NewWriter == "" || w.NewWriter == f.NewWriter) &&
				after > -switchoverSlack && after < switchoverSpan
		})
		if i >= 0 {
			s.Failovers[i].Planned = true
		}
	}
}

// restartsInPlace are the terms of nodes that began after their own.
func restartsInPlace(all []topology.Told) []topology.RestartInPlace {
	var found []topology.RestartInPlace
	for _, t := range all {
		if t.History == nil {
			continue
		}
		var lost metav1.MicroTime // when the term before ended
		for _, term := range t.History.Terms {
			if term.After == t.Node {
				found = append(found, topology.RestartInPlace{Node: t.Node, Clock: t.Node, At: term.From, LostAt: lost})
			}
			lost = ptr.Deref(term.To, metav1.MicroTime{})
		}
	}
	slices.SortStableFunc(found, func(a, b topology.RestartInPlace) int { return a.At.Compare(b.At.Time) })
	return found
}
