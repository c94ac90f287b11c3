package verdict

import (
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
	if len(e.Faults) == 0 || e.Witness == nil || e.Witness.Incomplete != "" || e.Witness.Availability == nil {
		return nil
	}
	gap := faultGap(e.Witness.Availability.Gaps, firstFault(e.Faults))
	if gap == nil {
		return nil
	}
	f := &v1alpha1.FailoverStatus{
		OldPrimary: gap.LastNode, LastOldAcknowledgement: &gap.LastAcknowledgedAt, FirstError: gap.FirstErrorAt,
		NewPrimary: gap.NextNode, FirstNewAcknowledgement: gap.NextAcknowledgedAt,
	}
	if gap.DurationMicroseconds != nil {
		f.OutageMilliseconds = ptr.To((*gap.DurationMicroseconds + 500) / 1000)
	}
	phases(e, f)
	return f
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
		if fault == nil || g.NextAcknowledgedAt != nil && g.NextAcknowledgedAt.Before(fault) {
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
