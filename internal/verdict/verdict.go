// Package verdict turns evidence into figures and a verdict. It is pure, so that the same evidence always gives the same.
package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
)

// Judge writes figures, goals, reasons and the verdict into status; the rest of it stays as it is.
//
// Invalid comes first: figures that contradict each other prove nothing. Then Inconclusive: what was not measured cannot be
// judged. Then the goals.
func Judge(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = evidence.Timed(e)
	fill(e, status)
	status.Goals = judgeGoals(e, status)

	var reasons []string
	status.Verdict = v1alpha1.VerdictPassed
	for _, c := range []struct {
		verdict v1alpha1.Verdict
		checks  []check
	}{
		{v1alpha1.VerdictInvalid, contradictions},
		{v1alpha1.VerdictInconclusive, gaps},
		{v1alpha1.VerdictFailed, []check{goalsNotMet}},
	} {
		for _, found := range run(c.checks, e, status) {
			if status.Verdict == v1alpha1.VerdictPassed {
				status.Verdict = c.verdict
			}
			reasons = append(reasons, found)
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, passed(status))
	}
	status.Comparison = comparison(e, status) // it depends on the verdict
	reasons = append(reasons, run(remarks, e, status)...)
	status.Reasons = append(reasons, e.Notes...)
}

// check returns a sentence for each thing it found.
type check func(evidence.Run, *v1alpha1.ReplicationExperimentStatus) []string

func run(checks []check, e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, c := range checks {
		found = append(found, c(e, status)...)
	}
	return found
}

func passed(status *v1alpha1.ReplicationExperimentStatus) string {
	switch n := len(status.Goals); n {
	case 0:
		return "Everything was measured; the experiment sets no goals."
	case 1:
		return "The goal was met."
	default:
		return fmt.Sprintf("All %d goals were met.", n)
	}
}

func goalsNotMet(_ evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for _, g := range status.Goals {
		if g.Met == "False" {
			found = append(found, fmt.Sprintf("Goal %s (%s) was not met: measured %s.", g.Metric, g.Limit, measured(g)))
		}
	}
	return found
}
