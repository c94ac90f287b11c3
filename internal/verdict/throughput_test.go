package verdict

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// answering is a run of which so many requests succeeded in 60 seconds.
func answering(succeeded int64) func(*evidence.Run) {
	return func(e *evidence.Run) { e.Recorder.Load.Succeeded = succeeded }
}

func TestThroughputGoalsReadThousandths(t *testing.T) {
	for name, c := range map[string]struct {
		succeeded int64
		goal      v1alpha1.Goal
		want      v1alpha1.Verdict
	}{
		"11.5 against at least 12":   {690, v1alpha1.Goal{Min: ptr.To[int64](12)}, "Failed"},
		"12 against at least 12":     {720, v1alpha1.Goal{Min: ptr.To[int64](12)}, "Passed"},
		"12.4 against at most 12":    {744, v1alpha1.Goal{Max: ptr.To[int64](12)}, "Failed"},
		"11.983 against at least 12": {719, v1alpha1.Goal{Min: ptr.To[int64](12)}, "Failed"},
	} {
		c.goal.Metric = "requestsPerSecond"
		s := judged(func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{c.goal}
			answering(c.succeeded)(e)
		})
		if s.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %q", name, s.Verdict, c.want, s.Reasons)
		}
	}
}

func TestComparedThroughputHasThousandths(t *testing.T) {
	slow, fast := judged(answering(156)), judged(answering(204)) // 2.6 and 3.4 a second
	b := baseline()
	b.Status.Load = fast.Load
	s := judged(func(e *evidence.Run) {
		e.Spec.Baseline, e.Baseline = &v1alpha1.BaselineReference{Name: "single"}, b
		answering(156)(e)
	})
	if got := s.Comparison.RequestsPerSecondPercent; got == nil || *got != -24 {
		t.Errorf("%d against %d is %v %%, want -24: %s", *slow.Load.RequestsPerSecond, *fast.Load.RequestsPerSecond, text(got), s.Comparison.Note)
	}
}

func TestTheShareOfTheDistancesBoundHasTheThroughputsBounds(t *testing.T) {
	for paused, want := range map[int64]string{0: "exact", 6_000_000: "976 to 1085", 60_000_000: "at least 976"} {
		e, s := evidencetest.FarApart(), v1alpha1.ReplicationExperimentStatus{}
		e.Recorder.Stages[0].PausedMicroseconds = paused
		s.Distance = e.Distance
		Judge(e, &s)
		if got := boundsOf(s, "load.stages[steady].distance.ofBoundPermille"); got != want {
			t.Errorf("after a pause of %d µs it is %s, want %s", paused, got, want)
		}
	}
}

// TestTheDistancesBoundHasTheBoundsOfItsBase: of a mean in whose time the recorder did not run only a minimum is known.
func TestTheDistancesBoundHasTheBoundsOfItsBase(t *testing.T) {
	paused := func(r *wire.StageResult) {
		r.PausedMicroseconds, r.PausedRequests = r.DurationMicroseconds/10, r.Requests/10
	}
	ofStage := func(change func(*wire.StageResult)) func(*evidence.Run) {
		return func(e *evidence.Run) {
			*e = evidencetest.WithoutDistanceFirst()
			e.Recorder.Stages[0].DurationMicroseconds, e.Recorder.Stages[0].Answered = 10_000_000, 2000
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "base", Requests: 2000, Iterations: 2000, IterationMeanMicroseconds: 5_000})
			change(&e.Recorder.Stages[0])
		}
	}
	ofBaseline := func(bounds ...v1alpha1.BoundStatus) func(*evidence.Run) {
		return func(e *evidence.Run) {
			withoutDistance(e)
			e.Baseline.Status.Bounds = bounds
		}
	}
	const mean = "load.stages[steady].latency.meanMicroseconds"
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string // the mean without distance, the bound, and the share of it
	}{
		"reads":                {func(*evidence.Run) {}, "2ms 819.672/s 97.6%"},
		"reads in a pause":     {func(e *evidence.Run) { paused(&e.Recorder.Stages[0]) }, "≥1.8ms ≤833.334/s ≥96.0%"},
		"a stage":              {ofStage(func(*wire.StageResult) {}), "5ms 664.452/s 120.4%"},
		"a stage with a pause": {ofStage(func(r *wire.StageResult) { paused(r); r.Latency.Unpaused = &wire.Latency{MeanMicroseconds: 4_500} }), "≥4.5ms ≤687.286/s ≥116.3%"},
		"a baseline":           {ofBaseline(), "4ms 714.286/s 112.0%"},
		"one with a pause":     {ofBaseline(v1alpha1.BoundStatus{Figure: mean, AtLeast: ptr.To[int64](3_000), Because: "a pause"}), "≥3ms ≤769.232/s ≥103.9%"},
		"one in contradiction": {ofBaseline(v1alpha1.BoundStatus{Figure: mean, Because: "it does not fit"}), "4ms? 714.286/s? 112.0%?"},
	} {
		e, s := evidencetest.FarApart(), v1alpha1.ReplicationExperimentStatus{}
		c.change(&e)
		s.Distance = e.Distance
		Judge(e, &s)
		var got []string
		for _, name := range []string{"baseMicroseconds", "boundMilliRequestsPerSecond", "ofBoundPermille"} {
			got = append(got, figure.Read(&s, "load.stages[steady].distance."+name).Short())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

func TestThroughputHasTheBoundsOfPauses(t *testing.T) {
	for name, c := range map[string]struct {
		paused       int64
		milli, whole any
		bounds, text string
	}{
		"no pause":              {0, int64(49_833), int64(50), "exact", "49.83/s"},
		"a pause of no account": {60_000, int64(49_833), int64(49), "49833 to 49883", "49.83/s"},
		"a pause that shows":    {6_000_000, int64(49_833), int64(49), "49833 to 55370", "49.83/s–55.37/s"},
		"a pause all the time":  {60_000_000, int64(49_833), int64(49), "at least 49833", "≥49.83/s"},
	} {
		s := judged(func(e *evidence.Run) { e.Recorder.Load.PausedMicroseconds = c.paused })
		bounds, shown := boundsOf(s, "load.requestsPerSecondMilli"), s.Columns["requestsPerSecond"]
		if l := s.Load; text(l.RequestsPerSecondMilli) != c.milli || bounds != c.bounds || text(l.RequestsPerSecond) != c.whole || shown != c.text {
			t.Errorf("%s: %v, %s, rounded %v, shown as %s", name, text(l.RequestsPerSecondMilli), bounds, text(l.RequestsPerSecond), shown)
		}
	}
}

func TestClosedLoopIsJudgedBeforeRounding(t *testing.T) {
	s := judged(func(e *evidence.Run) { e.K6.Stages[0].IterationMeanMicroseconds = 202_220 }) // 2998 x 0.20222 / 60 / 10 = 1.01043
	if s.Load.Stages[0].ClosedLoopHolds != "False" || !strings.Contains(strings.Join(allSaid(s), " "), "is 1.0104, outside") {
		t.Errorf("1.0104 holds: %s, %q", s.Load.Stages[0].ClosedLoopHolds, s.Reasons)
	}
}
