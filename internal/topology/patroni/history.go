package patroni

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
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

// failovers are the terms of nodes that began when another one's had ended, each by its own agent's clock, in about their order.
func failovers(all []member) []topology.Failover {
	var found []topology.Failover
	for _, m := range all {
		if m.told == nil {
			continue
		}
		for _, t := range m.told.Terms {
			if t.After == "" || t.After == m.name {
				continue
			}
			f := topology.Failover{Clock: m.name, OldWriter: t.After, NewWriter: m.name, DetectedAt: t.From, PromotedAt: &t.From, Seen: true}
			if f.Undetected = t.NoticedAt == nil; !f.Undetected {
				f.DetectedAt = *t.NoticedAt
			}
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b topology.Failover) int { return a.PromotedAt.Compare(b.PromotedAt.Time) })
	markPlanned(found, all)
	return found
}

// markPlanned marks the failovers that switchovers came to: of each the first from the node that was asked, to the one that it named.
func markPlanned(found []topology.Failover, all []member) {
	for _, m := range all {
		if m.told == nil {
			continue
		}
		for _, s := range m.told.Switchovers {
			if s.Outcome == wire.SwitchoverFailed {
				continue
			}
			i := slices.IndexFunc(found, func(f topology.Failover) bool {
				after := f.PromotedAt.Sub(s.RequestedAt.Time)
				return !f.Planned && f.OldWriter == m.name && (s.To == "" || s.To == f.NewWriter) && after > -switchoverSlack && after < switchoverSpan
			})
			if i >= 0 {
				found[i].Planned = true
			}
		}
	}
}

// restartsInPlace are the terms of nodes that began after their own.
func restartsInPlace(all []member) []topology.RestartInPlace {
	var found []topology.RestartInPlace
	for _, m := range all {
		if m.told == nil {
			continue
		}
		var lost *metav1.MicroTime // when the term before ended
		for _, t := range m.told.Terms {
			if t.After == m.name {
				r := topology.RestartInPlace{Node: m.name, Clock: m.name, At: t.From}
				if lost != nil {
					r.LostAt = *lost
				}
				found = append(found, r)
			}
			lost = t.To
		}
	}
	slices.SortStableFunc(found, func(a, b topology.RestartInPlace) int { return a.At.Compare(b.At.Time) })
	return found
}

// absences are the times in which nodes were not in their places, by their own agents' clocks.
func absences(all []member) []topology.Absence {
	var found []topology.Absence
	for _, m := range all {
		if m.told == nil {
			continue
		}
		for _, a := range m.told.Absences {
			found = append(found, absence(m.name, a))
		}
	}
	slices.SortStableFunc(found, func(a, b topology.Absence) int { return a.LeftAt.Compare(b.LeftAt.Time) })
	return found
}

// absence of a node. Where its own commits were taken back it was read before, and was kept apart for as long.
func absence(node string, a wire.Absence) topology.Absence {
	away := topology.Absence{Node: node, Clock: node, LeftAt: a.LeftAt, BackAt: a.BackAt}
	if r := a.Rewind; r != nil {
		inspected := metav1.NewMicroTime(r.BeganAt.Add(time.Duration(r.InspectedMilliseconds) * time.Millisecond))
		away.RequestedAt = &inspected
		if r.ExitCode == 0 {
			took := max(r.EndedAt.Sub(inspected.Time), 0).Milliseconds()
			away.Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncRewind, DurationMilliseconds: &took}
		}
	}
	if a.Copied {
		away.Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup, DurationMilliseconds: a.CopyMilliseconds}
	}
	return away
}
