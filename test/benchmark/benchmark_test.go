package benchmark

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

func TestLine(t *testing.T) {
	for name, c := range map[string]struct {
		figure Figure
		want   string
	}{
		"a ratio of pairs that is reached": {
			OfPairs("recorder", "9/s with, 10/s without", []float64{0.9, 1, 0.95}, AtLeast(0.95)),
			"recorder                                       9/s with, 10/s without                             0.950  >= 0.95     reached      3 pairs, 0.900 to 1.000",
		},
		"a value that is not reached": {
			Figure{What: "memory", Value: 65.5, Unit: "MiB", Target: AtMost(64)},
			"memory                                                                                         65.5 MiB  <= 64 MiB   not reached",
		},
		"a value without a target": {
			Figure{What: "record", Measured: "one id", Value: 0.4, Unit: "µs"},
			"record                                         one id                                           0.40 µs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.figure.line(); got != c.want {
				t.Errorf("line\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestTheMediansInterval(t *testing.T) {
	for n, want := range map[int]string{
		5: "5 pairs, 1.000 to 5.000", 6: "6 pairs, 95%: 1.000 to 6.000", 15: "15 pairs, 95%: 3.000 to 13.000", 60: "60 pairs, 95%: 22.000 to 39.000",
	} {
		var ratios []float64
		for i := range n {
			ratios = append(ratios, float64(n-i))
		}
		if got := spread(ratios); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPairsKeepTheirPartners(t *testing.T) {
	n := 0
	next := func(sign int) func() int { return func() int { n++; return sign * ((n + 1) / 2) } }
	as, bs := Pairs(20, next(1), next(-1))
	for i := range as {
		if as[i] != i+1 || bs[i] != -(i+1) {
			t.Fatalf("pairs %v and %v", as, bs)
		}
	}
}

func TestTheOverheadIsWhatNeitherLoadNorHoldTook(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	micro := func(seconds int) *metav1.MicroTime { return new(metav1.NewMicroTime(at(seconds))) }
	fault := func(from, to int) v1alpha1.FaultStatus {
		return v1alpha1.FaultStatus{InjectedTime: micro(from), ReleasedTime: micro(to)}
	}
	for name, c := range map[string]struct {
		faults []v1alpha1.FaultStatus
		want   time.Duration
	}{
		"without a fault":          {nil, 60 * time.Second},
		"a hold within the load":   {[]v1alpha1.FaultStatus{fault(40, 50)}, 60 * time.Second},
		"a hold beyond the load":   {[]v1alpha1.FaultStatus{fault(70, 85)}, 55 * time.Second},
		"holds that overlap":       {[]v1alpha1.FaultStatus{fault(82, 90), fault(70, 85)}, 50 * time.Second},
		"a fault that was not one": {[]v1alpha1.FaultStatus{{}}, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(0))}}
			x.Spec.Load.Stages = []v1alpha1.Stage{{DurationSeconds: 5}, {DurationSeconds: 45}}
			x.Status.Faults = c.faults
			if _, ok := Overhead(x); ok {
				t.Error("a run that is not over has an overhead")
			}
			x.Status.LoadStartTime, x.Status.CompletionTime = micro(30), new(metav1.NewTime(at(110)))
			if got, ok := Overhead(x); !ok || got != c.want {
				t.Errorf("overhead %v, %t; want %v", got, ok, c.want)
			}
			if got, ok := ToLoad(x); !ok || got != 30*time.Second {
				t.Errorf("to the load %v, %t", got, ok)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
