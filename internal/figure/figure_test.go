package figure_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

func status() *v1alpha1.ReplicationExperimentStatus {
	return &v1alpha1.ReplicationExperimentStatus{
		Load: &v1alpha1.LoadStatus{
			StageFigures: v1alpha1.StageFigures{Requests: 12, Latency: &v1alpha1.LatencyStatus{P99Microseconds: 83_000}},
			Stages:       []v1alpha1.StageStatus{{Name: "a.b", StageFigures: v1alpha1.StageFigures{Requests: 7}}},
		},
		OutageMilliseconds: ptr.To[int64](900),
		Distance: &v1alpha1.DistanceStatus{RoundTrips: []v1alpha1.RoundTripStatus{
			{From: "x-db-0", To: "x-db-1", RequestedMicroseconds: 20_000}, {From: "x-db-0", To: "x-db-2", RequestedMicroseconds: 40_000},
		}},
	}
}

func TestNumbersAreFoundByTheirPaths(t *testing.T) {
	s := status()
	for path, want := range map[string]*int64{
		"load.requests": ptr.To[int64](12), "load.stages[a.b].requests": ptr.To[int64](7), "load.stages[0].requests": ptr.To[int64](7), "outageMilliseconds": ptr.To[int64](900),
		"distance.roundTrips[x-db-0 to x-db-2].requestedMicroseconds": ptr.To[int64](40_000), "distance.roundTrips[0].requestedMicroseconds": ptr.To[int64](20_000),
		"load.stages[1].requests": nil, "load.stages[a.b].latency.p99Microseconds": nil, "writes.lost": nil, "verdict": nil, "": nil, "load[": nil,
	} {
		got := figure.At(s, path)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q is %v, want %v", path, ptr.Deref(got, -1), ptr.Deref(want, -1))
		}
	}
}

func TestBoundsAreReadWithTheFigure(t *testing.T) {
	s := status()
	var b figure.Bounds
	b.AtLeast("load.latency.p99Microseconds", 83_000, "requests failed")
	b.Between("outageMilliseconds", 500, 900, "clocks differ")
	b.Between("load.requests", 12, 12, "nothing")
	b.Unknown("writes.lost", "nothing was at risk")
	s.Bounds = b
	for path, want := range map[string]struct {
		exact     bool
		low, high int64
		because   string
	}{
		"load.latency.p99Microseconds": {false, 83_000, math.MaxInt64, "requests failed"},
		"outageMilliseconds":           {false, 500, 900, "clocks differ"},
		"load.requests":                {true, 12, 12, ""},
		"writes.lost":                  {false, math.MinInt64, math.MaxInt64, "nothing was at risk"},
		"ghostWrites":                  {false, math.MinInt64, math.MaxInt64, ""},
	} {
		f := figure.Read(s, path)
		low, high := f.Interval()
		if f.IsExact() != want.exact || low != want.low || high != want.high || f.Because != want.because {
			t.Errorf("%s is %+v (%d to %d), want %+v", path, f, low, high, want)
		}
	}
}

// TestAReasonFitsIntoTheStatus: a longer one would have the API server refuse all of it.
func TestAReasonFitsIntoTheStatus(t *testing.T) {
	var b figure.Bounds
	b.Unknown("writes.lost", strings.Repeat("ä", 600))
	if got := len([]rune(b[0].Because)); got != 512 {
		t.Errorf("it has %d characters", got)
	}
}
