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
	latency := func(unit int64) *wire.Latency {
		return &wire.Latency{
			MeanMicroseconds: 2 * unit, StandardDeviationMicroseconds: 7, P50Microseconds: unit, P75Microseconds: 2 * unit,
			P90Microseconds: 3 * unit, P95Microseconds: 4 * unit, P99Microseconds: 5 * unit, MaxMicroseconds: 10 * unit,
		}
	}
	for name, c := range map[string]struct {
		pausedMilliseconds, pausedRequests int64
		unpaused                           *wire.Latency
		want                               string // p50, p75, p90, p95, p99, maximum, mean, deviation
	}{
		"none":            {0, 0, nil, "exact exact exact exact exact exact exact exact"},
		"that hit none":   {300, 0, latency(1_000_000), "exact exact exact exact exact exact exact exact"},
		"of less than 1%": {300, 0, latency(990_000), "exact exact exact exact exact exact exact exact"},
		"within requests": {300, 0, latency(980_000), "980000 to 1000000 1960000 to 2000000 2940000 to 3000000 3920000 to 4000000 4900000 to 5000000 9800000 to 10000000 1960000 to 2000000 unknown"},
		"after the end":   {0, 0, latency(500_000), "500000 to 1000000 1000000 to 2000000 1500000 to 3000000 2000000 to 4000000 2500000 to 5000000 5000000 to 10000000 1000000 to 2000000 unknown"},
		"that 2% came in": {1200, 60, latency(1_000_000), "exact exact 3000000 to 4000000 4000000 to 5000000 at least 5000000 at least 10000000 at least 2000000 unknown"},
		"of 2%, of which an older recorder says little":       {1200, 60, nil, "exact exact 1800000 to 4000000 2800000 to 5000000 at least 3800000 at least 8800000 at least 800000 unknown"},
		"of all the time, of which an older one says nothing": {60_000, 3000, nil, "unknown unknown unknown unknown unknown unknown unknown unknown"},
	} {
		s := judged(func(e *evidence.Run) {
			r := &e.Recorder.Load
			r.Failures, r.PausedMicroseconds, r.PausedRequests = 0, c.pausedMilliseconds*1000, c.pausedRequests
			r.Latency = latency(1_000_000)
			r.Latency.Unpaused = c.unpaused
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
	if f := figure.Read(&s, "load.latency.p95Microseconds"); !strings.Contains(f.Because, "was paused for 1200 of") {
		t.Errorf("it is not exact because %q", f.Because)
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
