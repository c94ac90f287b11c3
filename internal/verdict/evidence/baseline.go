package evidence

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
)

// Pair is the run and its baseline, which is the zero run where it is not there.
func Pair(e Run, s *v1alpha1.ReplicationExperimentStatus) (now, base compare.Run) {
	now = compare.Run{Spec: e.Spec, Status: *s, Provenance: e.Provenance}
	if e.Baseline != nil {
		base = compare.Run{Spec: e.Baseline.Spec, Status: e.Baseline.Status, Provenance: e.BaselineProvenance}
	}
	return now, base
}
