package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// boundsOf a figure: exact, 10 to 20, at least 10, or unknown.
func boundsOf(s v1alpha1.ReplicationExperimentStatus, path string) string {
	switch f := figure.Read(&s, path); f.Bound() {
	case "between":
		return fmt.Sprintf("%d to %d", *f.AtLeast, *f.AtMost)
	case "at least":
		return fmt.Sprintf("at least %d", *f.AtLeast)
	case "":
		if f.Value != nil {
			return "exact"
		}
	}
	return "unknown"
}

// lowerOf are the percentiles below a path that are lower bounds.
func lowerOf(s v1alpha1.ReplicationExperimentStatus, prefix string) (lower []v1alpha1.Percentile) {
	for _, p := range []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max} {
		if figure.Read(&s, prefix+string(p)).Bound() == "at least" {
			lower = append(lower, p)
		}
	}
	return lower
}
