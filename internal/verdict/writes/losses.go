package writes

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// underWay is how long before a fault a write must have been acknowledged for the fault to have something to destroy.
const underWay = time.Second

// riskless says why it is not known that a loss could have shown, nothing when it could: every fault came while writes were being
// acknowledged, or, without faults, some were.
func riskless(e evidence.Run) finding.Finding {
	if e.Recorder == nil {
		return finding.Of(finding.NoRecorder)
	}
	if len(e.Faults) == 0 {
		if e.Recorder.Writes.Acknowledged == 0 {
			return finding.Of(finding.NothingAcknowledged)
		}
		return finding.Finding{}
	}
	var names []string
	for _, f := range e.Faults {
		if !couldDestroy(f, e.Recorder.Acknowledgements) && !alreadyAlone(e, f) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return finding.Finding{}
	}
	return finding.Of(finding.NothingToLose, strings.Join(names, " and fault "))
}

// couldDestroy tells whether a write was acknowledged in the second before a fault, whenever in its bounds the fault came.
func couldDestroy(f v1alpha1.FaultStatus, a *wire.Acknowledgements) bool {
	m, known := evidence.Injected(f)
	if !known {
		return false
	}
	for at := m.Earliest; ; {
		last, some := a.LastBefore(at)
		covers := last.Add(underWay) // until then a fault had this one in the second before it
		switch {
		case !some || covers.Before(at):
			return false
		case !covers.Before(m.Latest):
			return true
		case !covers.After(at):
			return false
		}
		at = covers
	}
}

// fromPeers are the partitions that leave a node's writes with it.
var fromPeers = []v1alpha1.PartitionFrom{v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone, v1alpha1.PartitionZone}

// alreadyAlone tells that a fault came to a node that another still cut off from its peers, and that one had something to destroy: what
// was acknowledged before it had not come elsewhere since. One by zone leaves a node the others of its zone: it is alone with them, so they
// must have died with it.
func alreadyAlone(e evidence.Run, f v1alpha1.FaultStatus) bool {
	at, known := evidence.Injected(f)
	return known && slices.ContainsFunc(e.Faults, func(cut v1alpha1.FaultStatus) bool {
		began, known := evidence.Injected(cut)
		asked := evidence.PlannedOf(e.Spec, cut)
		if !known || cut.Pod != f.Pod || cut.Confirmed != metav1.ConditionTrue || began.Latest.After(at.Earliest) ||
			asked.Action != v1alpha1.ActionPartition || !slices.Contains(fromPeers, asked.PartitionFrom) {
			return false
		}
		stands := asked.HoldSeconds < 0 || cut.ReleasedTime != nil && evidence.ReleasedMoment(e, cut).Earliest.After(at.Latest)
		return stands && couldDestroy(cut, e.Recorder.Acknowledgements) && (asked.PartitionFrom != v1alpha1.PartitionZone || !survived(e, cut, f))
	})
}

// survived tells whether a node that a partition hit together with another one was not killed in the moment of a fault of that one.
func survived(e evidence.Run, cut, f v1alpha1.FaultStatus) bool {
	at, _ := evidence.Injected(f)
	this := evidence.Event{Moment: at, Known: true, Plan: f.PlannedTime.Time}
	return slices.ContainsFunc(e.Faults, func(mate v1alpha1.FaultStatus) bool {
		return mate.Fault == cut.Fault && mate.Pod != cut.Pod && !slices.ContainsFunc(e.Faults, func(o v1alpha1.FaultStatus) bool {
			m, known := evidence.Injected(o)
			return o.Pod == mate.Pod && known && o.Confirmed == metav1.ConditionTrue && evidence.ActionOf(e.Spec, o).EndsServer() &&
				evidence.Together(this, evidence.Event{Moment: m, Known: true, Plan: o.PlannedTime.Time})
		})
	})
}

// statedLosses are nil when none was found where none could have shown.
func statedLosses(e evidence.Run, lost *int64) *int64 {
	if *lost == 0 && !riskless(e).None() {
		return nil
	}
	return lost
}

// lossRemarks say how little one run proves, or why it proves nothing.
func lossRemarks(e evidence.Run, s *evidence.Status) []finding.Finding {
	if s.Writes == nil || e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	if s.Writes.Lost == nil {
		return []finding.Finding{finding.Of(finding.LossesUnknown, riskless(e))}
	}
	confirmed := 0
	for _, f := range e.Faults {
		if f.Confirmed == "True" {
			confirmed++
		}
	}
	if *s.Writes.Lost > 0 || confirmed == 0 {
		return nil
	}
	return []finding.Finding{finding.Of(finding.NoLosses, confirmed)}
}
