package verdict

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
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

func TestAbsentFiguresSayWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*evidence.Run)
		path, want string
	}{
		"a recorder that was restarted": {func(e *evidence.Run) { e.Recorder.Incomplete = "it was restarted" }, "load.latency.p99Microseconds", "a part of the load only: it was restarted"},
		"its outage":                    {func(e *evidence.Run) { e.Recorder = nil }, "outageMilliseconds", "the recorder's results are missing"},
		"an audit that failed":          {func(e *evidence.Run) { e.Audit = &wire.AuditResult{Failed: "no answer"} }, "ghostWrites", "the audit failed"},
		"commits that nobody could count": {func(e *evidence.Run) {
			for i := range e.Recorder.Commits.Nodes {
				e.Recorder.Commits.Nodes[i].Samples = 0
			}
		}, "replication.degradedCommits", "its counters were never read"},
		"a group's member that wrote was never read": {func(e *evidence.Run) {
			grouped(e)
			e.Recorder.Group.Nodes = e.Recorder.Group.Nodes[1:]
		}, "replication.group.forcedAborts", "the counters of node db-0 could not be read"},
		"what is absent since there is none": {func(e *evidence.Run) { e.Recorder.Commits = nil }, "replication.degradedCommits", ""},
	} {
		s := judged(c.change)
		if f := figure.Read(&s, c.path); f.Value != nil || !strings.Contains(f.Because, c.want) || c.want == "" && f.Because != "" {
			t.Errorf("%s: %s is %v, because %q, want %q", name, c.path, text(f.Value), f.Because, c.want)
		}
	}
}

func TestAContradictedLatencyHasNoExactMean(t *testing.T) {
	s := judged(func(e *evidence.Run) { e.Recorder.Stages[0].Answered = 2900 })
	if f := figure.Read(&s, "load.latency.meanMicroseconds"); !f.Doubtful() {
		t.Errorf("the mean is %+v", f)
	}
}

func TestTheRoundedThroughputHasBoundsToo(t *testing.T) {
	s := judged(func(e *evidence.Run) { e.Recorder.Load.PausedMicroseconds = 6_000_000 })
	if got := boundsOf(s, "load.requestsPerSecond"); got != "49 to 56" {
		t.Errorf("it is %s", got)
	}
}

func TestTimeoutsAreAtLeastThoseThatTheRecorderSaw(t *testing.T) {
	for want, paused := range map[string]int64{"exact": 0, "at least 3": 31} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Load.Timeouts, e.Recorder.Load.PausedRequests = ptr.To[int64](3), paused
			e.Recorder.Load.PausedMicroseconds = paused * 20_000
		})
		if got := boundsOf(s, "load.timeouts"); got != want {
			t.Errorf("where about %d requests came while the recorder did not run there are %s timeouts, want %s", paused, got, want)
		}
	}
}

func TestSalvageStatesNoComparison(t *testing.T) {
	e := evidencetest.Sound()
	s := v1alpha1.ReplicationExperimentStatus{Comparison: &v1alpha1.ComparisonStatus{RequestsPerSecondPercent: ptr.To[int64](-3)}, Goals: []v1alpha1.GoalStatus{{}}}
	if Salvage(e, &s); s.Comparison != nil || s.Goals != nil {
		t.Errorf("of a run that was ended there is %+v, %v", s.Comparison, s.Goals)
	}
}
