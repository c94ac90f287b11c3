package figures

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// paused has the process run at each beat of a time, but not in between two moments.
func paused(r *Recorder, until, from, to time.Duration) {
	r.Pauses = &pauses.Log{}
	r.Pauses.Begin(start)
	for at := time.Duration(0); at <= until; at += 10 * time.Millisecond {
		if at <= from || at >= to {
			r.Pauses.Ran(start.Add(at))
		}
	}
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
		"for half of a second in the stage that is let go": {2 * s, 2*s + 500*ms, most, nil, nil, nil, 0},
		"for a tenth of a second in a stage of ten":        {30 * s, 30*s + 100*ms, nil, nil, []v1alpha1.Percentile{v1alpha1.Max}, []v1alpha1.Percentile{v1alpha1.Max}, 90 * ms},
		"for two seconds at the turn of two stages":        {24 * s, 26 * s, nil, half, most, most, 1990 * ms},
		"for less than a beat":                             {10 * s, 10*s + 19*ms, nil, nil, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			paused(r, 70*s, c.from, c.to)
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
	paused(r, 6*s, 1*s+800*ms, 2*s+700*ms)
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

// Half a second is 1% of the whole time and more than half of the requests of a short, busy stage.
func TestAPauseWeighsByTheRequestsOfItsStage(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	r, clock := newRecorder()
	paused(r, 70*s, 25*s+300*ms, 25*s+500*ms)
	load(r, clock, "steady", 5*s, 100*ms, 2*ms, 200)
	load(r, clock, "open", 25*s, ms, 2*ms, 1000)
	total := r.Total()
	want := []v1alpha1.Percentile{v1alpha1.P90, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	if diff := cmp.Diff(want, total.Latency.LowerBounds); diff != "" || total.PausedMicroseconds != 190_000 || total.PausedRequests != 190*1000/1000 {
		t.Errorf("paused for %d µs, about %d requests; total (-want +got):\n%s", total.PausedMicroseconds, total.PausedRequests, diff)
	}
	if diff := cmp.Diff(want, total.Operations[0].Latency.LowerBounds); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
}
