package verdict

import (
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/wire"
)

// TestTheLongestSilenceIsFoundAmongMany asks for the longest silence between any two moments, and compares with all of them.
func TestTheLongestSilenceIsFoundAmongMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		now := t0
		l := outage.NewLog(func() time.Time { return now }, nil)
		l.Begin(t0)
		ends := []int64{0}
		total := []int64{3e6, 60e6, 2000e6}[random.IntN(3)] // the last has more buckets than are kept
		for last := int64(0); last < total; {
			last += 1 + random.Int64N(1+random.Int64N([]int64{30_000, 150_000, 2_000_000}[random.IntN(3)]))
			ends = append(ends, last)
			now = t0.Add(time.Duration(last) * time.Microsecond)
			l.Acknowledged("db-0")
		}
		q := quiet{Silences: l.Silences(), loadEnd: ends[len(ends)-1]}
		for range 50 {
			from := random.Int64N(total)
			w := span{from: from, to: from + 1 + random.Int64N(total), cut: random.IntN(2) == 0}
			var want int64
			for i := 1; i < len(ends); i++ {
				want = max(want, w.part(wire.Silence{EndMicroseconds: ends[i], LengthMicroseconds: ends[i] - ends[i-1]}))
			}
			got := q.longest(w, w)
			if got.low > want || got.high < want || want >= q.BucketMicroseconds && !w.cut && got.high != want {
				t.Fatalf("%+v of %d silences in buckets of %d: between %d and %d, is %d", w, len(ends), q.BucketMicroseconds, got.low, got.high, want)
			}
			if len(q.Longest) > 2*wire.MaxSilenceBuckets {
				t.Fatalf("%d silences are kept", len(q.Longest))
			}
		}
	}
}

func TestWithoutTheProbeThereIsNoOutage(t *testing.T) {
	for name, change := range map[string]func(*Evidence){
		"the probe was off":      func(e *Evidence) { e.Recorder.Availability = nil },
		"the recorder restarted": func(e *Evidence) { e.Recorder.Incomplete = "restarted" },
		"there was no request":   func(e *Evidence) { e.Recorder.LoadEndedAt = nil },
		"there is no recorder":   func(e *Evidence) { e.Recorder = nil },
		"what it told is no use": func(e *Evidence) { e.Recorder.Availability.Silences = nil },
	} {
		t.Run(name, func(t *testing.T) {
			e, s := sound(), v1alpha1.ReplicationExperimentStatus{OutageMilliseconds: ptr.To[int64](7)}
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "outageMilliseconds", Max: ptr.To[int64](1000)}}
			change(&e)
			Judge(e, &s)
			if s.OutageMilliseconds != nil || s.Faults[0].OutageMilliseconds != nil || s.Failover != nil || s.Goals[0].Met != "Unknown" {
				t.Errorf("outage %v, of the fault %v, failover %+v, met %s", text(s.OutageMilliseconds), text(s.Faults[0].OutageMilliseconds), s.Failover, s.Goals[0].Met)
			}
		})
	}
}

// TestMillisecondsAreRoundedUp: a limit is not met by what is a little more.
func TestMillisecondsAreRoundedUp(t *testing.T) {
	for microseconds, want := range map[int64]int64{0: 0, 1: 1, 999: 1, 1_000: 1, 500_000: 500, 500_400: 501, 500_999: 501} {
		if got := milliseconds(microseconds); got != want {
			t.Errorf("%d µs are %d ms, want %d", microseconds, got, want)
		}
	}
}
