package follow

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/suite"
)

// SuiteEvents turns looks at a suite into lines of what has happened since the one before.
type SuiteEvents struct {
	begun, ended int
	waits, away  string
}

// Next are the lines of a look. away is why the API server did not answer this time.
func (e *SuiteEvents) Next(s *v1alpha1.ReplicationSuite, away error) (lines []string) {
	if away != nil {
		if text := plain.Line(away.Error()); text != e.away {
			e.away = text
			lines = append(lines, "the API server does not answer: "+text)
		}
		return lines
	}
	e.away = ""
	for i, r := range s.Status.Runs {
		if i >= e.begun {
			e.begun = i + 1
			lines = append(lines, fmt.Sprintf("%s begins: experiment %s", trialOf(r), r.Name))
		}
		if r.Verdict != "" && i >= e.ended {
			e.ended = i + 1
			lines = append(lines, endOf(s, r))
		}
	}
	if waits := waitsFor(s); waits != e.waits {
		if e.waits = waits; waits != "" {
			lines = append(lines, waits)
		}
	}
	return lines
}

func trialOf(r v1alpha1.TrialRun) string {
	text := fmt.Sprintf("round %d, %s", r.Round, r.Variant)
	if r.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	return text
}

func endOf(s *v1alpha1.ReplicationSuite, r v1alpha1.TrialRun) string {
	text := fmt.Sprintf("%s: %s", trialOf(r), r.Verdict)
	if r.Reason != "" {
		text += ", " + plain.Line(r.Reason)
	}
	c := suite.Count(s) // status.trials is written later than the run's verdict
	return text + fmt.Sprintf(" (%d of %d trials)", c.Done, c.Total)
}

// waitsFor is why the suite does not run a trial, "" while one runs.
func waitsFor(s *v1alpha1.ReplicationSuite) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonRunning {
		return ""
	}
	return c.Reason + ": " + plain.Line(c.Message)
}

// Line of a log: what has happened, with the age of the suite.
func Line(age time.Duration, what string) string {
	return Event{At: age, Text: what}.Line()
}

const barWidth = 20

// SuiteBar is where a suite stands, in one line.
func SuiteBar(s *v1alpha1.ReplicationSuite, now time.Time) string {
	c := s.Status.Trials
	if c == nil || c.Total == 0 {
		return "waiting for the operator"
	}
	full := int(int64(c.Done) * barWidth / int64(c.Total))
	parts := []string{fmt.Sprintf("%s%s %d/%d", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), c.Done, c.Total)}
	if end := s.Status.EstimatedCompletionTime; end != nil && end.After(now) {
		parts = append(parts, Seconds(end.Sub(now))+" left")
	}
	if n := len(s.Status.Runs); n > 0 && s.Status.Runs[n-1].Verdict == "" {
		parts = append(parts, trialOf(s.Status.Runs[n-1]))
	}
	return strings.Join(parts, "  ")
}
