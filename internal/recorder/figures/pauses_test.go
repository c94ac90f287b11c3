package figures

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// paused has the process not run in between two moments.
func paused(r *Recorder, c *clock, from, to time.Duration) {
	r.Pauses = &pauses.Log{}
	r.Pauses.Begin(start)
	c.pauses, c.from, c.to = r.Pauses, from, to
}

// The recorder stands still for half a second. What arrives then is read after it, and looks as fast as all others.
func TestAPercentileIsALowerBoundWhereTheRecorderStoodStill(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	half, most := []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	for name, c := range map[string]struct {
		from, to time.Duration // of the pause; the stage steady is from 5 s to 25 s, open from 25 s to 35 s
		warmup   []v1alpha1.Percentile
		steady   []v1alpha1.Percentile
		open     []v1alpha1.Percentile
		total    []v1alpha1.Percentile
		paused   time.Duration // in both stages that count
	}{
		"in no stage": {60 * s, 61 * s, nil, nil, nil, nil, 0},
		"for half of a second in a stage of twenty":        {10 * s, 10*s + 500*ms, nil, half, nil, half, 490 * ms},
		"for half of a second in the stage that is let go": {2 * s, 2*s + 500*ms, append([]v1alpha1.Percentile{v1alpha1.P90}, most...), nil, nil, nil, 0},
		"for a tenth of a second in a stage of ten":        {30 * s, 30*s + 100*ms, nil, nil, []v1alpha1.Percentile{v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.Max}, 90 * ms},
		"for two seconds at the turn of two stages":        {24 * s, 26 * s, nil, half, append([]v1alpha1.Percentile{v1alpha1.P90}, most...), most, 990 * ms},
		"for less than a beat":                             {10 * s, 10*s + 19*ms, nil, nil, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			paused(r, clock, c.from, c.to)
			load(r, clock, "warmup", 0, 10*ms, 2*ms, 500)
			load(r, clock, "steady", 5*s, 10*ms, 2*ms, 2000)
			load(r, clock, "open", 25*s, 10*ms, 2*ms, 1000)
			stages, total := r.Stages(), r.Total()
			for i, want := range [][]v1alpha1.Percentile{c.warmup, c.steady, c.open} {
				if diff := cmp.Diff(want, stages[i].Latency.LowerBounds); diff != "" {
					t.Errorf("stage %s (-want +got):\n%s", stages[i].Name, diff)
				}
				if diff := cmp.Diff(want, stages[i].Operations[0].Latency.LowerBounds); diff != "" {
					t.Errorf("operation in stage %s (-want +got):\n%s", stages[i].Name, diff)
				}
			}
			if diff := cmp.Diff(c.total, total.Latency.LowerBounds); diff != "" || total.PausedMicroseconds != c.paused.Microseconds() {
				t.Errorf("paused for %d µs, total (-want +got):\n%s", total.PausedMicroseconds, diff)
			}
		})
	}
}

func TestASecondInWhichTheRecorderStoodStillIsMarked(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	r, clock := newRecorder()
	paused(r, clock, 1*s+800*ms, 2*s+700*ms)
	load(r, clock, "steady", 0, 10*ms, 2*ms, 400)
	got, _ := r.Timeline()
	for i, want := range []struct {
		paused time.Duration
		lower  []v1alpha1.Percentile
	}{{0, nil}, {190 * ms, []v1alpha1.Percentile{v1alpha1.P99}}, {700 * ms, []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99}}, {0, nil}} {
		if diff := cmp.Diff(want.lower, got[i].LowerBounds); diff != "" || got[i].PausedMicroseconds != want.paused.Microseconds() {
			t.Errorf("second %d: paused for %d µs, lower bounds (-want +got):\n%s", i, got[i].PausedMicroseconds, diff)
		}
	}
}

func TestLagIsALowerBoundWhereTheRecorderStoodStill(t *testing.T) {
	value := new(int64(7))
	seen := wire.LagDistribution{Samples: 9, P50Microseconds: value, P99Microseconds: value, MaxMicroseconds: value}
	behind := seen
	behind.LowerBounds = []v1alpha1.Percentile{v1alpha1.P50}
	for name, c := range map[string]struct {
		paused int64
		want   []v1alpha1.Percentile // of a node that has shown all
		behind []v1alpha1.Percentile // of one that has not
	}{
		"never":            {0, nil, []v1alpha1.Percentile{v1alpha1.P50}},
		"for a moment":     {10_000, []v1alpha1.Percentile{v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.Max}},
		"for more than 1%": {250_000, []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
		"most of the time": {15_000_000, []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &wire.LagResult{
				LagDistribution: seen, Nodes: []wire.NodeLag{{LagDistribution: behind}, {}}, Sizes: []wire.SizeLag{{LagDistribution: seen}},
			}
			l.AtMostMicroseconds = new(int64)
			MarkLag(l, wire.StageResult{PausedMicroseconds: c.paused, DurationMicroseconds: 20_000_000})
			if (l.AtMostMicroseconds == nil) != (c.paused > 0) {
				t.Error("what a pause hid has no bound from above")
			}
			got := [][]v1alpha1.Percentile{l.LowerBounds, l.Nodes[0].LowerBounds, l.Nodes[1].LowerBounds, l.Sizes[0].LowerBounds}
			if diff := cmp.Diff([][]v1alpha1.Percentile{c.want, c.behind, nil, c.want}, got); diff != "" {
				t.Errorf("all, two nodes, a size (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLatenciesLessPauses are no more than the true ones, also where the pause comes after the planned end of the stage.
func TestLatenciesLessPauses(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for name, c := range map[string]struct{ arrive, from, to, took, want time.Duration }{
		"a pause within a request":        {10 * s, 10*s + 1*ms, 10*s + 501*ms, 502 * ms, 10 * ms}, // the process ran at 10 s, and is due 10 ms later
		"one after the end of the stage":  {24*s + 990*ms, 25*s + 1*ms, 25*s + 501*ms, 512 * ms, 20 * ms},
		"one that a request came in":      {10*s + 100*ms, 10 * s, 10*s + 500*ms, 402 * ms, 2 * ms},
		"one that ended before a request": {11 * s, 10 * s, 10*s + 500*ms, 2 * ms, 2 * ms},
	} {
		r, clock := newRecorder()
		paused(r, clock, c.from, c.to)
		request(r, clock, "steady", Profile, 6*s, 30*ms, true) // another one, from before
		request(r, clock, "steady", Profile, c.arrive, c.took, true)
		for _, l := range []*wire.Latency{r.Stages()[1].Latency, r.Total().Latency} {
			got := l.P50Microseconds
			if l.Unpaused != nil {
				got = l.Unpaused.P50Microseconds
			}
			if got/1000 != c.want.Milliseconds() || l.MaxMicroseconds < c.want.Microseconds() {
				t.Errorf("%s: at least %d of %d µs, want %v", name, got, l.MaxMicroseconds, c.want)
			}
		}
	}
}

// TestUsersAreThroughputTimesLatency in a closed loop (Little's law), also over a pause.
func TestUsersAreThroughputTimesLatency(t *testing.T) {
	const users, took = 10, 50 * time.Millisecond
	r, clock := newRecorder()
	paused(r, clock, 10*time.Second, 12*time.Second)
	var calls [users]Call
	clock.set(5 * time.Second)
	for i := range calls {
		calls[i] = r.Begin("steady", Profile)
	}
	for at := 5*time.Second + took; at < 25*time.Second; at = clock.Sub(start) + took {
		clock.set(at)
		for i := range calls {
			calls[i].End(true, 0)
			calls[i] = r.Begin("steady", Profile)
		}
	}
	s := r.Stages()[1]
	ran := s.DurationMicroseconds - s.PausedMicroseconds
	if got := float64(s.Succeeded) / float64(ran) * float64(s.Latency.Unpaused.MeanMicroseconds); math.Abs(got-users) > users/100. || s.PausedMicroseconds < 1_900_000 {
		t.Errorf("%d requests in %d µs, of %d µs each: %v users", s.Succeeded, ran, s.Latency.Unpaused.MeanMicroseconds, got)
	}
}

// Half a second is 1% of the whole time and more than half of the requests of a short, busy stage.
func TestAPauseWeighsByTheRequestsOfItsStage(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	r, clock := newRecorder()
	paused(r, clock, 25*s+300*ms, 25*s+500*ms)
	load(r, clock, "steady", 5*s, 100*ms, 2*ms, 200)
	load(r, clock, "open", 25*s, ms, 2*ms, 1000)
	total := r.Total()
	want := []v1alpha1.Percentile{v1alpha1.P90, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	if diff := cmp.Diff(want, total.Latency.LowerBounds); diff != "" || total.PausedMicroseconds != 190_000 || total.PausedRequests != 199+19 { // and those of a tenth of it after it
		t.Errorf("paused for %d µs, about %d requests; total (-want +got):\n%s", total.PausedMicroseconds, total.PausedRequests, diff)
	}
	if diff := cmp.Diff(want, total.Operations[0].Latency.LowerBounds); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
}
