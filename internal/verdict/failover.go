package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// failover tells of the longest outage after a fault in which another node took over; nil when none did.
func failover(e Evidence) *v1alpha1.FailoverStatus {
	each, _, known := outages(e)
	if !known {
		return nil
	}
	takeovers := slices.DeleteFunc(slices.Clone(e.Witness.Availability.Gaps), func(g wire.Gap) bool {
		return !g.Moved() || cause(each, g) == nil
	})
	if len(takeovers) == 0 {
		return nil
	}
	gap := slices.MaxFunc(accounted(e, takeovers), func(a, b wire.Gap) int { return cmp.Compare(*a.DurationMicroseconds, *b.DurationMicroseconds) })
	f := &v1alpha1.FailoverStatus{
		Fault:      cause(each, gap).names(e.Faults),
		OldPrimary: gap.LastNode, LastOldAcknowledgement: &gap.LastAcknowledgedAt, FirstError: gap.FirstErrorAt,
		NewPrimary: gap.NextNode, FirstNewAcknowledgement: gap.NextAcknowledgedAt,
		OutageMilliseconds: ptr.To(milliseconds(*gap.DurationMicroseconds)),
	}
	phases(e, gap, f)
	return f
}

// accounted are the gaps that the topology's manager tells of, where an old writer went on serving beside the new one: meanwhile some lead
// from either to the other. They are all where none went on, and where it tells of none of them.
func accounted(e Evidence, gaps []wire.Gap) []wire.Gap {
	found := slices.DeleteFunc(slices.Clone(gaps), func(g wire.Gap) bool { return managed(e, g) == nil })
	if len(found) == 0 || !slices.ContainsFunc(e.State.Failovers, func(m topology.Failover) bool { return m.OldServes }) {
		return gaps
	}
	return found
}

// cause of a gap is the last event that may have come before its end, nil without one.
func cause(each []interruption, g wire.Gap) *interruption {
	var last *interruption
	for i := range each {
		if each[i].earliest.Before(g.NextAcknowledgedAt.Time) {
			last = &each[i]
		}
	}
	return last
}

// followed is how long after a change clients may still write to the old writer where that goes on serving.
const followed = 5 * time.Second

// phases are the parts of the outage by the account of the topology's manager. They are stated when what it tells of is this
// failover, and its moments lie within it as far as clocks can tell.
func phases(e Evidence, gap wire.Gap, f *v1alpha1.FailoverStatus) {
	m := managed(e, gap)
	if m == nil {
		return
	}
	f.Planned, f.DetectedTime = m.Planned, &m.DetectedAt
	if !m.Waits {
		f.PromotedTime = m.PromotedAt
	}
	if !m.Waits && m.DetectedAt.Before(m.PromotedAt) { // else both were one moment, and there was nothing between them
		f.PromotionMilliseconds = ptr.To(m.PromotedAt.Sub(m.DetectedAt.Time).Milliseconds())
	}
	if f.Clock = clockOf(e.Witness, m.Clock); f.Clock == nil {
		return
	}
	detected, promoted := told(m.DetectedAt.Time, *f.Clock).middle(), told(m.PromotedAt.Time, *f.Clock).middle()
	if !m.Planned { // one that was asked for was so before the outage
		f.DetectionMilliseconds = ptr.To(detected.Sub(gap.LastAcknowledgedAt.Time).Milliseconds())
	}
	if m.OldServes { // the outage may have begun later
		promoted = timespan.Later(promoted, gap.LastAcknowledgedAt.Time)
	}
	if !m.Waits {
		f.RoutingMilliseconds = ptr.To(gap.NextAcknowledgedAt.Sub(promoted).Milliseconds())
	}
	f.PhaseUncertaintyMicroseconds = ptr.To((f.Clock.MostAheadMicroseconds - f.Clock.LeastAheadMicroseconds + 1) / 2)
}

// phasesUnknown says why only the first phase of a failover is stated.
func phasesUnknown(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	f := status.Failover
	if f == nil || f.DetectedTime == nil || f.PromotedTime != nil {
		return nil
	}
	return []string{fmt.Sprintf("When writes could go on after the failover to %s is not known apart from routing: it took them over when its group had not given %s up yet.", f.NewPrimary, f.OldPrimary)}
}

// managed returns the failover that the manager tells of between the same two nodes, which it can have carried out within the
// gap; nil when there is none, or more than one.
func managed(e Evidence, gap wire.Gap) *topology.Failover {
	var found *topology.Failover
	for i, m := range e.State.Failovers {
		if m.PromotedAt == nil || m.PromotedAt.Before(&m.DetectedAt) || m.OldWriter != gap.LastNode || m.NewWriter != gap.NextNode {
			continue
		}
		if c := clockOf(e.Witness, m.Clock); c != nil {
			detected, promoted := told(m.DetectedAt.Time, *c), told(m.PromotedAt.Time, *c)
			before := detected.latest
			switch {
			case m.OldServes:
				before = promoted.latest.Add(followed)
			case m.Planned:
				before = promoted.latest
			}
			if before.Before(gap.LastAcknowledgedAt.Time) || promoted.earliest.After(gap.NextAcknowledgedAt.Time) {
				continue
			}
		}
		if found != nil {
			return nil
		}
		found = &e.State.Failovers[i]
	}
	return found
}

func (m moment) middle() time.Time { return m.earliest.Add(m.latest.Sub(m.earliest) / 2) }
