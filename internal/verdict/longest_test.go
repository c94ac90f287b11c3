package verdict

import (
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

func TestWithoutTheProbeThereIsNoOutage(t *testing.T) {
	for name, change := range map[string]func(*evidence.Run){
		"the probe was off":      func(e *evidence.Run) { e.Recorder.Availability = nil },
		"the recorder restarted": func(e *evidence.Run) { e.Recorder.Incomplete = "restarted" },
		"there was no request":   func(e *evidence.Run) { e.Recorder.LoadEndedAt = nil },
		"there is no recorder":   func(e *evidence.Run) { e.Recorder = nil },
		"what it told is no use": func(e *evidence.Run) { e.Recorder.Availability.Silences = nil },
		"its buckets are empty":  func(e *evidence.Run) { e.Recorder.Availability.Silences.BucketMicroseconds = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{OutageMilliseconds: ptr.To[int64](7)}
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
		if got := evidence.Milliseconds(microseconds); got != want {
			t.Errorf("%d µs are %d ms, want %d", microseconds, got, want)
		}
	}
}
