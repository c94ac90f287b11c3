package verdict

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/protocol"
)

// failover finds the outage that the faults caused: the longest gap between acknowledged writes that ended after the first
// fault, usually that in which another node took over. Without a fault there is none.
func failover(e Evidence) *v1alpha1.FailoverStatus {
	gap := outage(e)
	if gap == nil {
		return nil
	}
	f := &v1alpha1.FailoverStatus{
		OldPrimary: gap.LastNode, LastOldAcknowledgement: &gap.LastAcknowledgedAt, FirstError: gap.FirstErrorAt,
		NewPrimary: gap.NextNode, FirstNewAcknowledgement: gap.NextAcknowledgedAt,
	}
	if gap.DurationMicroseconds != nil && !slept(gap) {
		f.OutageMilliseconds = ptr.To((*gap.DurationMicroseconds + 500) / 1000)
		phases(e, f)
	}
	return f
}

func outage(e Evidence) *protocol.Gap {
	if len(e.Faults) == 0 || e.Witness == nil || e.Witness.Incomplete != "" || e.Witness.Availability == nil {
		return nil
	}
	return faultGap(e.Witness.Availability.Gaps, firstFault(e.Faults))
}

// slept tells that more than a twentieth of a gap may be the witness's own, which did not run then.
func slept(g *protocol.Gap) bool {
	return g.DurationMicroseconds != nil && g.PausedMicroseconds*20 > *g.DurationMicroseconds
}

// stalled tells that a gap is a silence in which nothing failed, and after which the same node went on.
func stalled(g *protocol.Gap) bool {
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

func faultGap(gaps []protocol.Gap, fault *metav1.MicroTime) *protocol.Gap {
	var best *protocol.Gap
	for i := range gaps {
		g := &gaps[i]
		if fault == nil || stalled(g) || g.NextAcknowledgedAt != nil && g.NextAcknowledgedAt.Before(fault) {
			continue
		}
		if best == nil || rank(g) > rank(best) {
			best = g
		}
	}
	return best
}

// rank puts a gap that never ended first, then the longest: what is said of the outage then holds for every gap.
func rank(g *protocol.Gap) int64 {
	if g.DurationMicroseconds == nil {
		return math.MaxInt64
	}
	return *g.DurationMicroseconds
}

// phases are the parts of the outage by the manager's account: they are stated only when its moments lie within it.
func phases(e Evidence, f *v1alpha1.FailoverStatus) {
	m := e.State.Failover
	if m == nil || m.PromotedAt == nil || f.FirstNewAcknowledgement == nil || m.NewPrimary != f.NewPrimary {
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

// outageRemarks says what the failover does not: why an outage has no length, and the longest silence in which nothing failed.
func outageRemarks(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Witness == nil || e.Witness.Incomplete != "" || e.Witness.Availability == nil {
		return nil
	}
	var found []string
	if g := outage(e); g != nil && slept(g) {
		found = append(found, fmt.Sprintf("The length of the outage is not stated: the witness itself did not run for %d of its %d ms.",
			g.PausedMicroseconds/1000, *g.DurationMicroseconds/1000))
	}
	if g := longestStall(e.Witness.Availability.Gaps); g != nil {
		found = append(found, fmt.Sprintf("From %s on no write was acknowledged for %d ms, though none failed and no other node took over: the longest such silence.",
			g.LastAcknowledgedAt.UTC().Format("15:04:05.000"), *g.DurationMicroseconds/1000))
	}
	return found
}

func longestStall(gaps []protocol.Gap) *protocol.Gap {
	var longest *protocol.Gap
	for i := range gaps {
		if g := &gaps[i]; stalled(g) && (longest == nil || rank(g) > rank(longest)) {
			longest = g
		}
	}
	return longest
}
