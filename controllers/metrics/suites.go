package metrics

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/metrics"
)

// Of one suite, as its status says.
var (
	trialsFamily      = ofSuite("replab_suite_trials", "Trials of the suite by state: planned, passed, failed, inconclusive, invalid; repeated are Inconclusive runs that another run replaced.", "state")
	conclusionFamily  = ofSuite("replab_suite_verdict", "1 for the verdict: Passed, Failed, Inconclusive or Invalid; absent before the suite is complete.", "verdict")
	suiteStartFamily  = ofSuite("replab_suite_start_timestamp_seconds", "When the suite was accepted.")
	expectedEndFamily = ofSuite("replab_suite_estimated_completion_timestamp_seconds", "When the remaining trials will have ended, if they take as long as those before.")
	suiteEndFamily    = ofSuite("replab_suite_completion_timestamp_seconds", "When the suite was over.")
)

var suiteFamilies = []*metrics.Family{trialsFamily, conclusionFamily, suiteStartFamily, expectedEndFamily, suiteEndFamily}

func ofSuite(name, help string, labels ...string) *metrics.Family {
	return metrics.Gauge(name, help, append([]string{"namespace", "suite"}, labels...)...)
}

func tellSuite(tell metrics.Tell, s *v1alpha1.ReplicationSuite) {
	if c := s.Status.Trials; c != nil {
		for state, n := range map[string]int32{
			"planned": c.Total, "passed": c.Passed, "failed": c.Failed, "inconclusive": c.Inconclusive, "invalid": c.Invalid, "repeated": c.Repeated,
		} {
			tell(trialsFamily, float64(n), s.Namespace, s.Name, state)
		}
	}
	if s.Status.Verdict != "" {
		tell(conclusionFamily, 1, s.Namespace, s.Name, string(s.Status.Verdict))
	}
	if t := s.Status.StartTime; t != nil {
		tell(suiteStartFamily, stamp(t.Time), s.Namespace, s.Name)
	}
	if t := s.Status.EstimatedCompletionTime; t != nil {
		tell(expectedEndFamily, stamp(t.Time), s.Namespace, s.Name)
	}
	if t := s.Status.CompletionTime; t != nil {
		tell(suiteEndFamily, stamp(t.Time), s.Namespace, s.Name)
	}
}
