package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// failover tells of the outage that the faults caused: the gap between acknowledged writes in which another node took over,
// or, where none did, the longest one. Without a fault there is none.
func failover(e Evidence) *v1alpha1.FailoverStatus {
	interruptions := afterFault(e)
	gap := outage(interruptions)
	if gap == nil {
		return nil
	}
	f := &v1alpha1.FailoverStatus{
		OldPrimary: gap.LastNode, LastOldAcknowledgement: &gap.LastAcknowledgedAt, FirstError: gap.FirstErrorAt,
		NewPrimary: gap.NextNode, FirstNewAcknowledgement: gap.NextAcknowledgedAt,
		OutageMilliseconds:              lengthOf(gap),
		LongestInterruptionMilliseconds: lengthOf(slices.MaxFunc(interruptions, byLength)),
	}
	if slept(gap) {
		f.OutageUncertaintyMilliseconds = ptr.To((gap.PausedMicroseconds + 999) / 1000)
	}
	if f.OutageMilliseconds != nil {
		phases(e, f)
	}
	return f
}

// afterFault are the gaps that ended after the first fault, or never, and that were no mere silence.
func afterFault(e Evidence) []*wire.Gap {
	fault := firstFault(e.Faults)
	if fault == nil || e.Witness == nil || e.Witness.Incomplete != "" || e.Witness.Availability == nil {
		return nil
	}
	var found []*wire.Gap
	for i := range e.Witness.Availability.Gaps {
		g := &e.Witness.Availability.Gaps[i]
		if !stalled(g) && (g.NextAcknowledgedAt == nil || !g.NextAcknowledgedAt.Before(fault)) {
			found = append(found, g)
		}
	}
	return found
}

// outage is the gap that never ended, or else the longest of those in which another node took over, or else the longest.
func outage(interruptions []*wire.Gap) *wire.Gap {
	if len(interruptions) == 0 {
		return nil
	}
	longest := slices.MaxFunc(interruptions, byLength)
	moved := slices.DeleteFunc(slices.Clone(interruptions), func(g *wire.Gap) bool { return !g.Moved() })
	if !ended(longest) || len(moved) == 0 {
		return longest
	}
	return slices.MaxFunc(moved, byLength)
}

func ended(g *wire.Gap) bool { return g.DurationMicroseconds != nil }

func byLength(a, b *wire.Gap) int { return cmp.Compare(rank(a), rank(b)) }

// longestInterruption is what a goal on the outage is about; there must be one.
func longestInterruption(e Evidence) *wire.Gap { return slices.MaxFunc(afterFault(e), byLength) }

// lengthOf is nil for a gap without an end.
func lengthOf(g *wire.Gap) *int64 {
	if !ended(g) {
		return nil
	}
	return ptr.To((*g.DurationMicroseconds + 500) / 1000)
}

// slept tells that more than a twentieth of a gap may be the witness's own, which did not run then. The gap is no longer than
// it seems, and may be that much shorter.
func slept(g *wire.Gap) bool {
	return g.DurationMicroseconds != nil && g.PausedMicroseconds*20 > *g.DurationMicroseconds
}

// stalled tells that a gap is a silence in which nothing failed, and after which the same node went on.
func stalled(g *wire.Gap) bool {
	return g.DurationMicroseconds != nil && g.Errors == 0 && !g.Moved()
}

func firstFault(faults []v1alpha1.FaultStatus) *metav1.MicroTime {
	var first *metav1.MicroTime
	for i := range faults {
		if at := faults[i].InjectedTime; at != nil && (first == nil || at.Before(first)) {
			first = at
		}
	}
	return first
}

// rank puts a gap that never ended first, then the longest.
func rank(g *wire.Gap) int64 {
	if g.DurationMicroseconds == nil {
		return math.MaxInt64
	}
	return *g.DurationMicroseconds
}

// phases are the parts of the outage by the manager's account: they are stated only when its moments lie within it.
func phases(e Evidence, f *v1alpha1.FailoverStatus) {
	m := e.State.Failover
	if m == nil || m.PromotedAt == nil || f.FirstNewAcknowledgement == nil || m.NewWriter != f.NewPrimary {
		return
	}
	points := []time.Time{f.LastOldAcknowledgement.Time, m.DetectedAt.Time, m.PromotedAt.Time, f.FirstNewAcknowledgement.Time}
	for i := 1; i < len(points); i++ {
		if points[i].Before(points[i-1]) {
			return
		}
	}
	f.DetectedTime, f.PromotedTime = &m.DetectedAt, m.PromotedAt
	f.DetectionMilliseconds = ptr.To(points[1].Sub(points[0]).Milliseconds())
	f.PromotionMilliseconds = ptr.To(points[2].Sub(points[1]).Milliseconds())
	f.RoutingMilliseconds = ptr.To(points[3].Sub(points[2]).Milliseconds())
}

// outageRemarks says how far the failover may be trusted, what was worse than it, and the longest silence in which nothing failed.
func outageRemarks(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Witness == nil || e.Witness.Incomplete != "" || e.Witness.Availability == nil {
		return nil
	}
	var found []string
	if f := status.Failover; f != nil && f.OutageMilliseconds != nil && f.OutageUncertaintyMilliseconds != nil {
		found = append(found, fmt.Sprintf("The outage may have been up to %d of its %d ms shorter: for so long the witness itself did not run.",
			*f.OutageUncertaintyMilliseconds, *f.OutageMilliseconds))
	}
	if f := status.Failover; f != nil && ptr.Deref(f.LongestInterruptionMilliseconds, 0) > ptr.Deref(f.OutageMilliseconds, math.MaxInt64) {
		found = append(found, fmt.Sprintf("Writes also failed for %d ms without an acknowledgement, longer than the failover's %d ms: the goal on outageMilliseconds is measured by that.",
			*f.LongestInterruptionMilliseconds, *f.OutageMilliseconds))
	}
	if g := longestStall(e.Witness.Availability.Gaps); g != nil {
		found = append(found, fmt.Sprintf("From %s on no write was acknowledged for %d ms, though none failed and no other node took over: the longest such silence.",
			g.LastAcknowledgedAt.UTC().Format("15:04:05.000"), *g.DurationMicroseconds/1000))
	}
	return found
}

func longestStall(gaps []wire.Gap) *wire.Gap {
	var longest *wire.Gap
	for i := range gaps {
		if g := &gaps[i]; stalled(g) && (longest == nil || rank(g) > rank(longest)) {
			longest = g
		}
	}
	return longest
}
