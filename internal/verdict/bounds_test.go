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

// What is under way in a pause seems to take longer, and what comes in one shorter.
func TestPausesBoundTheLatency(t *testing.T) {
	for name, c := range map[string]struct {
		pausedMilliseconds, pausedRequests int64
		want                               string // p50, p75, p90, p95, p99, maximum, mean, deviation
	}{
		"none":        {0, 0, "exact exact exact exact exact exact exact exact"},
		"of 0.5%":     {300, 15, "exact exact exact exact exact at least 9700000 at least 1990000 unknown"},
		"of 2%":       {1200, 60, "exact exact 1800000 to 4000000 2800000 to 5000000 at least 3800000 at least 8800000 at least 1960000 unknown"},
		"of 4%":       {2400, 120, "exact 0 to 3000000 600000 to 4000000 1600000 to 5000000 at least 2600000 at least 7600000 at least 1920000 unknown"},
		"of 10%":      {6000, 300, "0 to 2000000 0 to 3000000 0 to 10000000 unknown unknown at least 4000000 at least 1800000 unknown"},
		"of the time": {60_000, 3000, "unknown unknown unknown unknown unknown unknown at least 0 unknown"},
	} {
		s := judged(func(e *evidence.Run) {
			r := &e.Recorder.Load
			r.Failures, r.PausedMicroseconds, r.PausedRequests = 0, c.pausedMilliseconds*1000, c.pausedRequests
			r.Latency = &wire.Latency{
				MeanMicroseconds: 2_000_000, StandardDeviationMicroseconds: 7, P50Microseconds: 1_000_000, P75Microseconds: 2_000_000,
				P90Microseconds: 3_000_000, P95Microseconds: 4_000_000, P99Microseconds: 5_000_000, MaxMicroseconds: 10_000_000,
			}
		})
		var got []string
		for _, figure := range []string{"p50", "p75", "p90", "p95", "p99", "max", "mean", "standardDeviation"} {
			got = append(got, boundsOf(s, "load.latency."+figure+"Microseconds"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("pauses %s: %s, want %s", name, text, c.want)
		}
	}
}

func TestAPercentileThatPausesBoundSaysSo(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		evidencetest.Failed(e, 3, v1alpha1.Max)
		e.Recorder.Load.PausedMicroseconds, e.Recorder.Load.PausedRequests = 1_200_000, 60
		e.Recorder.Load.Latency = &wire.Latency{P95Microseconds: 100, P99Microseconds: 200, MaxMicroseconds: 300}
	})
	if f := figure.Read(&s, "load.latency.p95Microseconds"); !strings.Contains(f.Because, "did not run for 1200 of") {
		t.Errorf("it is not exact because %q", f.Because)
	}
}

// TestLatencyAndThroughputOfAClosedLoopAgree: users = throughput x latency, at both ends of what pauses leave open.
func TestLatencyAndThroughputOfAClosedLoopAgree(t *testing.T) {
	s := judged(func(e *evidence.Run) { // seed 004 under 1,000 users
		r := &e.Recorder.Load
		r.Requests, r.Failures, r.Succeeded, r.Answered, r.DurationMicroseconds = 53_510, 0, 52_550, 52_550, 40_000_000
		r.PausedMicroseconds, r.PausedRequests = 5_680_000, 7599
		r.Latency.MeanMicroseconds = 527_735
	})
	rate, mean := figure.Read(&s, "load.requestsPerSecondMilli"), figure.Read(&s, "load.latency.meanMicroseconds")
	measured, least := *rate.Value**mean.Value, *rate.AtMost**mean.AtLeast
	if measured < least*999/1000 || measured > least*1001/1000 {
		t.Errorf("%+v and %+v", rate, mean)
	}
}

func TestTimeoutsAreUnknownWhereTheRecorderStoodStill(t *testing.T) {
	for want, paused := range map[string]int64{"exact": 0, "unknown": 31} {
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
