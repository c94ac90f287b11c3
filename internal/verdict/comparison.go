package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
)

// comparison states the differences from the baseline, nil where there is none to compare with.
func comparison(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	now, base := evidence.Pair(e, s)
	return compare.Of(now, base, e.Spec.Baseline.Name, (*figure.Bounds)(&s.Bounds))
}

// notCompared says among the reasons too why a comparison that was asked for is not there.
func notCompared(_ evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	c := status.Comparison
	if c == nil || c.RequestsPerSecondPercent != nil {
		return nil
	}
	if c.P99Percent != nil {
		return []string{fmt.Sprintf("The throughput is not compared with %s: %s.", c.Baseline, c.Note)}
	}
	return []string{fmt.Sprintf("Not compared with %s: %s.", c.Baseline, c.Note)}
}
