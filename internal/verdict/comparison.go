package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
)

// comparison states the differences from the baseline, nil where there is none to compare with.
func comparison(e Evidence, s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	now, base := pair(e, s)
	return compare.Of(now, base, e.Spec.Baseline.Name, (*figure.Bounds)(&s.Bounds))
}

// pair is the run and its baseline, which is the zero run where it is not there.
func pair(e Evidence, s *v1alpha1.ReplicationExperimentStatus) (now, base compare.Run) {
	now = compare.Run{Spec: e.Spec, Status: *s, Provenance: e.Provenance}
	if e.Baseline != nil {
		base = compare.Run{Spec: e.Baseline.Spec, Status: e.Baseline.Status, Provenance: e.BaselineProvenance}
	}
	return now, base
}

// notCompared says among the reasons too why a comparison that was asked for is not there.
func notCompared(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	c := status.Comparison
	if c == nil || c.RequestsPerSecondPercent != nil {
		return nil
	}
	if c.P99Percent != nil {
		return []string{fmt.Sprintf("The throughput is not compared with %s: %s.", c.Baseline, c.Note)}
	}
	return []string{fmt.Sprintf("Not compared with %s: %s.", c.Baseline, c.Note)}
}
