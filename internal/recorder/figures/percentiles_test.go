package figures

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// many are requests of one kind.
type many struct {
	n    int
	took time.Duration
	ok   bool
}

func TestPercentilesAreOfAllRequests(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	lower := func(names ...v1alpha1.Percentile) []v1alpha1.Percentile { return names }
	for name, c := range map[string]struct {
		requests      []many
		p50, p95, p99 time.Duration
		lower         []v1alpha1.Percentile
	}{
		"one": {[]many{{1, 5 * ms, true}}, 5 * ms, 5 * ms, 5 * ms, nil},
		"the 99th of 99 is the slowest": {
			[]many{{98, 5 * ms, true}, {1, s, true}}, 5 * ms, 5 * ms, s, nil,
		},
		"the 99th of 51 is the slowest": {
			[]many{{50, 5 * ms, true}, {1, s, true}}, 5 * ms, 5 * ms, s, nil,
		},
		"the 99th of 100 leaves one out": {
			[]many{{99, 5 * ms, true}, {1, s, true}}, 5 * ms, 5 * ms, 5 * ms, nil,
		},
		"failed ones push the slow ones under the rank": { // without them the 99th were 5 ms
			[]many{{9815, 5 * ms, true}, {95, 10 * s, true}, {90, ms, false}}, 5 * ms, 5 * ms, 10 * s, lower(v1alpha1.Max),
		},
		"failed ones among the slow ones do so too": {
			[]many{{9895, 5 * ms, true}, {15, 10 * s, true}, {90, 10 * s, false}}, 5 * ms, 5 * ms, 10 * s, lower(v1alpha1.Max),
		},
		"as many failed as it leaves out": {
			[]many{{98, 5 * ms, true}, {1, 7 * ms, true}, {1, ms, false}}, 5 * ms, 5 * ms, 7 * ms, lower(v1alpha1.Max),
		},
		"one more failed than it leaves out": {
			[]many{{97, 5 * ms, true}, {1, 7 * ms, true}, {2, ms, false}}, 5 * ms, 5 * ms, 7 * ms, lower(v1alpha1.P99, v1alpha1.Max),
		},
		"half of them failed": {
			[]many{{49, 5 * ms, true}, {1, 7 * ms, true}, {50, ms, false}}, 7 * ms, 7 * ms, 7 * ms, lower(v1alpha1.P75, v1alpha1.P90, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max),
		},
		"more than half failed": {
			[]many{{49, 5 * ms, true}, {51, ms, false}}, 5 * ms, 5 * ms, 5 * ms, lower(v1alpha1.P50, v1alpha1.P75, v1alpha1.P90, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			at, slowest := time.Duration(0), time.Duration(0)
			for _, m := range c.requests {
				for range m.n {
					request(r, clock, "steady", Profile, at, m.took, m.ok)
				}
				if m.ok {
					slowest = max(slowest, m.took)
				}
				at += m.took
			}
			want := &wire.Latency{
				P50Microseconds: c.p50.Microseconds(), P75Microseconds: c.p50.Microseconds(), P90Microseconds: c.p50.Microseconds(), P95Microseconds: c.p95.Microseconds(), P99Microseconds: c.p99.Microseconds(),
				MaxMicroseconds: slowest.Microseconds(), LowerBounds: c.lower,
			}
			total, stage := r.Total(), r.Stages()[1]
			for where, got := range map[string]*wire.Latency{"total": total.Latency, "stage": stage.Latency, "operation": stage.Operations[0].Latency} {
				want.MeanMicroseconds, want.StandardDeviationMicroseconds = got.MeanMicroseconds, got.StandardDeviationMicroseconds
				if diff := cmp.Diff(want, got, withinDigits); diff != "" {
					t.Errorf("%s (-want +got):\n%s", where, diff)
				}
			}
		})
	}
}

func TestPercentilesBetweenAndTheStandardDeviation(t *testing.T) {
	r, clock := newRecorder()
	for i := range 100 {
		took := 2 * time.Millisecond
		switch {
		case i >= 85:
			took = 12 * time.Millisecond
		case i >= 70:
			took = 7 * time.Millisecond
		}
		request(r, clock, "steady", Profile, 0, took, true)
	}
	// The mean is 4.25 ms: 70 are 2.25 below, 15 are 2.75 and 15 are 7.75 above.
	want := &wire.Latency{
		MeanMicroseconds: 4250, StandardDeviationMicroseconds: 3699, P50Microseconds: 2000, P75Microseconds: 7000, P90Microseconds: 12_000,
		P95Microseconds: 12_000, P99Microseconds: 12_000, MaxMicroseconds: 12_000,
	}
	if diff := cmp.Diff(want, r.Total().Latency, withinDigits); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
}

// TestTheHistogramIsOfTheWholeLoad: of what succeeded in stages that count, and single stages have none.
func TestTheHistogramIsOfTheWholeLoad(t *testing.T) {
	r, clock := newRecorder()
	for _, took := range []time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 12 * time.Millisecond} {
		request(r, clock, "steady", Profile, 0, took, true)
	}
	request(r, clock, "steady", Register, 0, time.Millisecond, false)
	want := []wire.Bucket{{FromMicroseconds: 1792, ToMicroseconds: 2048, Count: 2}, {FromMicroseconds: 10_240, ToMicroseconds: 12_288, Count: 1}}
	if diff := cmp.Diff(want, r.Total().Histogram); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range r.Stages() {
		if s.Histogram != nil {
			t.Errorf("stage %s has a histogram", s.Name)
		}
	}
}

// withinDigits compares microseconds as closely as three digits allow.
var withinDigits = cmp.Comparer(func(a, b int64) bool { return a-b <= b/1000+1 && b-a <= a/1000+1 })

func TestWhatFailedHasPercentilesOfItsOwn(t *testing.T) {
	r, clock := newRecorder()
	request(r, clock, "steady", Profile, 0, time.Millisecond, true)
	request(r, clock, "steady", Profile, 0, 3*time.Second, false)
	if got := r.Total().FailedLatency; got.P50Microseconds < 2_999_000 || got.LowerBounds != nil {
		t.Errorf("latency of the failed ones is %+v", got)
	}
}

func TestTimeoutsAreSlowerThanTheirStageAllows(t *testing.T) {
	clock := &clock{Time: start}
	r := New([]wire.Stage{
		{Name: "warmup", DurationSeconds: 5, Discard: true, TimeoutMilliseconds: 1000}, {Name: "steady", DurationSeconds: 20, TimeoutMilliseconds: 1000},
	}, clock.now)
	r.Start(start)
	for _, took := range []time.Duration{999 * time.Millisecond, time.Second, 1001 * time.Millisecond} {
		request(r, clock, "warmup", Profile, 0, took, true)
		request(r, clock, "steady", Profile, 0, took, true)
		request(r, clock, "steady", Register, 0, took, false)
	}
	if all, each := r.Total(), r.Stages(); *all.Timeouts != 2 || *each[0].Timeouts != 1 || *each[1].Timeouts != 2 {
		t.Errorf("%d timeouts, by stage %d and %d; want those above 1 s: 2, 1 and 2", *all.Timeouts, *each[0].Timeouts, *each[1].Timeouts)
	}
	without, clock := newRecorder()
	request(without, clock, "steady", Profile, 0, time.Minute, true)
	if got := without.Total().Timeouts; got != nil {
		t.Errorf("%d timeouts, where none was asked for", *got)
	}
}
