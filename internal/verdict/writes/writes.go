package writes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/group"
)

func Status(e evidence.Run) *v1alpha1.WritesStatus {
	if e.Audit == nil || e.Audit.Writes == nil {
		if e.Recorder == nil || e.Recorder.Failed != "" {
			return nil
		}
		w := e.Recorder.Writes
		return &v1alpha1.WritesStatus{Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: group.Conflicting(e.Recorder), Indeterminate: w.Indeterminate}
	}
	w := e.Audit.Writes
	s := &v1alpha1.WritesStatus{
		Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: group.Conflicting(e.Recorder), Indeterminate: w.Indeterminate,
		Present: &w.Present, Lost: statedLosses(e, &w.Lost), Recovered: &w.Recovered, Vanished: &w.Vanished, Duplicates: &w.Duplicates, Unexpected: &w.Unexpected,
		Balanced: metav1.ConditionFalse,
	}
	s.LostWhileDegraded, _, _ = degraded.LossesWhileDegraded(e)
	if w.Balanced {
		s.Balanced = metav1.ConditionTrue
	}
	return s
}
