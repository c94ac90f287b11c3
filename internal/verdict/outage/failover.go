package outage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// failover tells of the longest outage after a fault in which another node took over; nil when none did, or when it is unknown which it was.
func failover(e evidence.Run) *v1alpha1.FailoverStatus {
	gap, by, unknown := takeover(e)
	if by == nil || !unknown.None() {
		return nil
	}
	f := &v1alpha1.FailoverStatus{
		Fault:      faultOf(e, gap),
		OldPrimary: gap.LastNode, LastOldAcknowledgement: &gap.LastAcknowledgedAt, FirstError: gap.FirstErrorAt,
		NewPrimary: gap.NextNode, FirstNewAcknowledgement: gap.NextAcknowledgedAt,
		OutageMilliseconds: ptr.To(evidence.Milliseconds(*gap.DurationMicroseconds)),
	}
	phases(e, gap, f)
	return f
}

// slept is a gap as a silence, of which the recorder itself may not have run for a part.
func slept(g wire.Gap) silence {
	return silence{low: *g.DurationMicroseconds - g.PausedMicroseconds, high: *g.DurationMicroseconds}
}

// takeover is the longest gap after a fault in which another node took over, with its cause, which is nil when none did. unknown says why it
// may be another one.
func takeover(e evidence.Run) (gap wire.Gap, by *interruption, unknown finding.Finding) {
	each, _, known := outages(e)
	if !known || e.Independent { // independent nodes all take writes already: the proxy moves them, and no node takes over
		return gap, nil, unknown
	}
	takeovers := slices.DeleteFunc(slices.Clone(e.Recorder.Availability.Gaps), func(g wire.Gap) bool {
		return !g.Moved() || g.DurationMicroseconds == nil || cause(each, g) == nil
	})
	if len(takeovers) == 0 {
		return gap, nil, unknown
	}
	gap = slices.MaxFunc(accounted(e, takeovers), func(a, b wire.Gap) int { return cmp.Compare(*a.DurationMicroseconds, *b.DurationMicroseconds) })
	for _, t := range takeovers {
		if silent := evidence.Unanswered(e, t.NextNode); !silent.None() && *t.DurationMicroseconds > *gap.DurationMicroseconds {
			unknown = finding.Of(finding.MayHaveTakenOver, silent)
		}
	}
	return gap, cause(each, gap), finding.First(unknown, sideBySide(e, gap))
}

// sideBySide says why a gap that the manager does not report may be none of a takeover. After a switchover that a silent node alone reports, the old
// writer may go on serving, and gaps lead from either node to the other.
func sideBySide(e evidence.Run, gap wire.Gap) finding.Finding {
	silent := evidence.Unanswered(e, gap.LastNode, gap.NextNode)
	if silent.None() || !e.State.OldServes || managed(e, gap) != nil {
		return finding.Finding{}
	}
	if !slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		asked, known := evidence.Injected(f)
		return evidence.ActionOf(e.Spec, f) == v1alpha1.ActionSwitchover && (!known || asked.Earliest.Before(gap.NextAcknowledgedAt.Time))
	}) {
		return finding.Finding{}
	}
	return finding.Of(finding.SideBySide, silent, gap.LastNode, gap.NextNode)
}

// accounted are the gaps that the topology's manager tells of, where an old writer went on serving beside the new one: meanwhile some lead
// from either to the other. They are all where none went on, and where it tells of none of them.
func accounted(e evidence.Run, gaps []wire.Gap) []wire.Gap {
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
		if each[i].Earliest.Before(g.NextAcknowledgedAt.Time) {
			last = &each[i]
		}
	}
	return last
}

// faultOf a takeover is what hit its old writer last, "" where no fault did.
func faultOf(e evidence.Run, g wire.Gap) string {
	each, _, _ := outages(e)
	gap := evidence.Moment{Earliest: g.LastAcknowledgedAt.Time, Latest: g.NextAcknowledgedAt.Time}
	for _, v := range slices.Backward(each) {
		if slices.ContainsFunc(v.Faults, func(i int) bool { return e.Faults[i].Pod == g.LastNode && evidence.MayCause(e, e.Faults[i], gap) }) {
			return v.Names(e.Faults)
		}
	}
	return ""
}

// followed is how long after a change clients may still write to the old writer where that goes on serving.
const followed = 5 * time.Second

// phases are the parts of the outage by the account of the topology's manager. They are stated when what it tells of is this
// failover, and its moments lie within it as far as clocks can tell.
func phases(e evidence.Run, gap wire.Gap, f *v1alpha1.FailoverStatus) {
	m := managed(e, gap)
	if m == nil || perhapsPlanned(e, m) {
		return
	}
	m, _ = openedInTime(e, *m, gap)
	f.Planned = m.Planned
	if !m.Undetected {
		f.DetectedTime = &m.DetectedAt
	}
	if !m.Waits {
		f.PromotedTime = m.PromotedAt
	}
	if !m.Waits && m.DetectedAt.Before(m.PromotedAt) { // else both were one moment, and there was nothing between them
		f.PromotionMilliseconds = ptr.To(m.PromotedAt.Sub(m.DetectedAt.Time).Milliseconds())
	}
	if f.Clock = evidence.ClockOf(e.Recorder, m.Clock); f.Clock == nil {
		return
	}
	detected, promoted := evidence.Told(m.DetectedAt.Time, *f.Clock).Middle(), evidence.Told(m.PromotedAt.Time, *f.Clock).Middle()
	if !m.Planned && !m.Undetected { // one that was asked for was so before the outage
		f.DetectionMilliseconds = ptr.To(detected.Sub(gap.LastAcknowledgedAt.Time).Milliseconds())
	}
	if m.OldServes { // the outage may have begun later
		promoted = timespan.Later(promoted, gap.LastAcknowledgedAt.Time)
	}
	if !m.Waits {
		f.RoutingMilliseconds = ptr.To(max(0, gap.NextAcknowledgedAt.Sub(promoted).Milliseconds())) // it was open before it acknowledged
	}
}

// boundPhases says how far the phases are from exact: two of them rest on two clocks, and where the new writer was only seen to be open, it may
// have been so since the look before. They were cut to whole milliseconds.
func boundPhases(b *figure.Bounds, e evidence.Run, s *evidence.Status, m topology.Failover, gap wire.Gap) {
	f, by := s.Failover, int64(0)
	if c := f.Clock; c != nil {
		by = evidence.Milliseconds((c.MostAheadMicroseconds - c.LeastAheadMicroseconds + 1) / 2) // the middle of the clock's bounds was taken
	}
	opened, unseen := openedInTime(e, m, gap)
	late, early := evidence.Milliseconds(unseen.Microseconds()), min(by, evidence.Milliseconds(m.PromotedAt.Sub(opened.PromotedAt.Time).Microseconds()))
	if v := f.PromotionMilliseconds; v != nil && late+early > 0 {
		b.Between(figure.Promotion.Path(), max(0, *v-late), *v+early+1, finding.Of(finding.SeenOpen).String())
	}
	if v := f.DetectionMilliseconds; v != nil && by > 0 {
		b.Between(figure.Detection.Path(), *v-by, *v+by+1, finding.Of(finding.TwoClocks).String())
	}
	if v := f.RoutingMilliseconds; v != nil && by+late > 0 {
		why := finding.TwoClocks
		if late > by {
			why = finding.SeenOpen
		}
		most := max(*v, evidence.Milliseconds(*gap.DurationMicroseconds))
		b.Between(figure.Routing.Path(), max(0, *v-by), min(*v+by+late+1, most), finding.Of(why).String())
	}
}

// perhapsPlanned tells whether the failover may be a switchover that the run asked for: the old writer alone may know, and does not answer.
func perhapsPlanned(e evidence.Run, m *topology.Failover) bool {
	return !evidence.Unanswered(e, m.OldWriter).None() && slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return evidence.ActionOf(e.Spec, f) == v1alpha1.ActionSwitchover
	})
}

// failoverUnknown says why there may have been another failover than the one that is stated, or one where none is.
func failoverUnknown(e evidence.Run, f *v1alpha1.FailoverStatus) finding.Finding {
	if _, _, unknown := takeover(e); !unknown.None() {
		return unknown
	}
	if f == nil && e.Recorder != nil && evidence.UnnamedWrites(e.Recorder) > 0 && slices.ContainsFunc(e.State.Failovers, func(m topology.Failover) bool { return evidence.InLoad(e, m) }) {
		return finding.Of(finding.WritesUnnamed, evidence.UnnamedWrites(e.Recorder))
	}
	return finding.Finding{}
}

// phasesUnknown says why only the first phase of a failover is stated, or none.
func phasesUnknown(e evidence.Run, status *evidence.Status) []finding.Finding {
	f := status.Failover
	if why := failoverUnknown(e, f); !why.None() {
		return []finding.Finding{finding.Of(finding.FailoverUnknown, why)}
	}
	switch {
	case f == nil || f.PromotedTime != nil || !e.State.Known:
		return nil
	case f.DetectedTime != nil:
		return []finding.Finding{finding.Of(finding.RoutingUnknown, f.NewPrimary, f.OldPrimary)}
	}
	if silent := evidence.Unanswered(e, f.OldPrimary, f.NewPrimary); !silent.None() {
		return []finding.Finding{finding.Of(finding.PhasesUnknown, f.OldPrimary, f.NewPrimary, silent)}
	}
	var known []string
	for _, m := range e.State.Failovers[max(0, len(e.State.Failovers)-degraded.MostTimes):] {
		known = append(known, reported(m).String())
	}
	if len(known) == 0 {
		return []finding.Finding{finding.Of(finding.PhasesUnknown, f.OldPrimary, f.NewPrimary, finding.Of(finding.NoFailoverReported))}
	}
	return []finding.Finding{finding.Of(finding.PhasesUnknown, f.OldPrimary, f.NewPrimary, finding.Of(finding.OtherFailover, strings.Join(known, "; ")))}
}

// reported says what the topology reports of a failover.
func reported(m topology.Failover) finding.Finding {
	const clock = "15:04:05.000"
	decided := m.DetectedAt.UTC().Format(clock)
	if m.PromotedAt == nil {
		return finding.Of(finding.FailoverDecided, m.OldWriter, m.NewWriter, decided, m.Clock)
	}
	return finding.Of(finding.FailoverCarriedOut, m.OldWriter, m.NewWriter, decided, m.PromotedAt.UTC().Format(clock), m.Clock)
}

// unapplied tells of new writers that were opened without all that they had received. A commit that a replica has received and not applied
// counts as safe to clients, also where commits wait for replicas.
func unapplied(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, f := range e.State.Failovers {
		if f.Unapplied > 0 && evidence.InLoad(e, f) {
			found = append(found, finding.Of(finding.RelayNotApplied, f.NewWriter, f.OldWriter, f.Unapplied))
		}
	}
	return found
}

// mostRestartsInPlace is how many the status has room for: as many as faults.
const mostRestartsInPlace = 160

// restartsInPlace are the first of those in the load, or perhaps in it.
func restartsInPlace(e evidence.Run) []v1alpha1.RestartInPlaceStatus {
	found := allRestartsInPlace(e)
	return found[:min(len(found), mostRestartsInPlace)]
}

func allRestartsInPlace(e evidence.Run) []v1alpha1.RestartInPlaceStatus {
	var found []v1alpha1.RestartInPlaceStatus
	for _, r := range e.State.RestartsInPlace {
		if evidence.BeforeTheLoad(e, r.Clock, &r.At) || evidence.AfterTheLoad(e, r.Clock, r.At) {
			continue
		}
		s := v1alpha1.RestartInPlaceStatus{Node: r.Node, RejoinedTime: r.At, Clock: evidence.ClockOf(e.Recorder, r.Clock)}
		if !r.LostAt.IsZero() {
			s.LostTime = &r.LostAt
		}
		found = append(found, s)
	}
	return found
}

// restartedInPlace tells of writers that took their places again: what is stated of them is an outage, and no failover.
func restartedInPlace(e evidence.Run, status *evidence.Status) []finding.Finding {
	var found []finding.Finding
	for _, r := range status.RestartsInPlace {
		since := ""
		if r.LostTime != nil {
			since = " at " + r.LostTime.UTC().Format("15:04:05.000")
		}
		found = append(found, finding.Of(finding.RestartedInPlace, r.Node, since, r.RejoinedTime.UTC().Format("15:04:05.000")))
	}
	if more := len(allRestartsInPlace(e)) - len(status.RestartsInPlace); more > 0 {
		found = append(found, finding.Of(finding.MoreRestartsInPlace, more))
	}
	return found
}

// openedInTime is a failover whose new writer was open at its first acknowledgement, and at the latest when it was seen to be. unseen is for how
// long before it may have been open already.
func openedInTime(e evidence.Run, m topology.Failover, gap wire.Gap) (opened *topology.Failover, unseen time.Duration) {
	if !m.Seen {
		return &m, 0
	}
	least := closedUntil(m)
	if clock := evidence.ClockOf(e.Recorder, m.Clock); clock != nil {
		late := evidence.Told(m.PromotedAt.Time, *clock).Middle().Sub(gap.NextAcknowledgedAt.Time)
		m.PromotedAt = new(metav1.NewMicroTime(timespan.Later(m.PromotedAt.Add(-max(late, 0)), least)))
	}
	if least.IsZero() { // the old writer took writes until then
		return &m, time.Duration(*gap.DurationMicroseconds) * time.Microsecond
	}
	return &m, m.PromotedAt.Sub(least)
}

// closedUntil is the last moment at which the new writer is known to have been closed, by the manager's clock; zero where none is.
func closedUntil(m topology.Failover) time.Time {
	var closed time.Time
	if m.ClosedAt != nil {
		closed = m.ClosedAt.Time
	}
	if m.Undetected {
		return closed
	}
	return timespan.Later(closed, m.DetectedAt.Time)
}

// managed returns the failover that the manager tells of between the same two nodes, which it can have carried out within the
// gap; nil when there is none, or more than one.
func managed(e evidence.Run, gap wire.Gap) *topology.Failover {
	var found *topology.Failover
	for i, m := range e.State.Failovers {
		if m.PromotedAt == nil || m.PromotedAt.Before(&m.DetectedAt) || m.OldWriter != gap.LastNode || m.NewWriter != gap.NextNode {
			continue
		}
		if c := evidence.ClockOf(e.Recorder, m.Clock); c != nil {
			detected, promoted := evidence.Told(m.DetectedAt.Time, *c), evidence.Told(m.PromotedAt.Time, *c)
			before := detected.Latest
			switch {
			case m.OldServes:
				before = promoted.Latest.Add(followed)
			case m.Planned:
				before = promoted.Latest
			}
			opened := promoted.Earliest
			if closed := closedUntil(m); m.Seen && !closed.IsZero() {
				opened = evidence.Told(closed, *c).Earliest
			}
			if before.Before(gap.LastAcknowledgedAt.Time) || opened.After(gap.NextAcknowledgedAt.Time) {
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
