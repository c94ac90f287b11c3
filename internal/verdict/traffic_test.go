package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// TestTrafficIsOfTheStagesThatCount, by direction.
func TestTrafficIsOfTheStagesThatCount(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Spec.Load.Stages = append([]v1alpha1.Stage{{Name: "warmup", Discard: true}, {Name: "rest", Users: ptr.To[int64](0)}}, e.Spec.Load.Stages...)
	e.Recorder.Traffic = []wire.NodeTraffic{
		{Node: "db-0", Peer: "db-1", Stage: "warmup", DurationMicroseconds: 1_000_000, SentBytes: 1},
		{Node: "db-0", Peer: "db-1", Stage: "rest", DurationMicroseconds: 9_000_000, SentBytes: 1},
		{Node: "db-0", Peer: "db-1", Stage: "steady", DurationMicroseconds: 2_000_000, SentBytes: 40},
		{Node: "db-0", Peer: "db-1", Stage: "more", DurationMicroseconds: 2_000_000, SentBytes: 2},
		{Node: "db-1", Peer: "db-0", Stage: "steady", DurationMicroseconds: 3_000_000, SentBytes: 9},
	}
	e.Recorder.Stages = append(e.Recorder.Stages, wire.StageResult{Name: "warmup", Discarded: true}, wire.StageResult{Name: "rest"}, wire.StageResult{Name: "more"})
	Judge(e, &s)
	want := []v1alpha1.TrafficStatus{
		{Name: "db-0 to db-1", From: "db-0", To: "db-1", SentBytes: 42, SentBytesPerSecond: 10},
		{Name: "db-1 to db-0", From: "db-1", To: "db-0", SentBytes: 9, SentBytesPerSecond: 3},
	}
	if diff := cmp.Diff(want, s.Replication.Traffic); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTrafficIsAMinimumWhereItWasNotSampled, as if nothing was sent meanwhile.
func TestTrafficIsAMinimumWhereItWasNotSampled(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder.Traffic = []wire.NodeTraffic{{Node: "db-0", Peer: "db-1", Stage: "steady", DurationMicroseconds: 30_000_000, SentBytes: 600}}
	Judge(e, &s)
	for figure, want := range map[string]string{"sentBytes": "at least 600", "sentBytesPerSecond": "at least 10"} { // 20 while it was sampled
		if got := boundsOf(s, "replication.traffic[db-0 to db-1]."+figure); got != want {
			t.Errorf("%s is %s, want %s", figure, got, want)
		}
	}
}

// TestTrafficOfADeletedPodIsAMinimum, since its counters went with it. So is what was sent to it: its successor has another address at first.
func TestTrafficOfADeletedPodIsAMinimum(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Spec.Faults = []v1alpha1.Fault{{Name: "gone", Action: v1alpha1.ActionDeletePod}}
	e.Faults = []v1alpha1.FaultStatus{evidencetest.Hit("gone", "db-0", 10)}
	e.Recorder.Traffic = []wire.NodeTraffic{
		{Node: "db-0", Peer: "db-1", Stage: "steady", DurationMicroseconds: 1_000_000, SentBytes: 40},
		{Node: "db-1", Peer: "db-0", Stage: "steady", DurationMicroseconds: 1_000_000, SentBytes: 9},
		{Node: "db-1", Peer: "db-2", Stage: "steady", DurationMicroseconds: 58_000_000, SentBytes: 9},
	}
	Judge(e, &s)
	for path, exact := range map[string]bool{
		"replication.traffic[db-0 to db-1].sentBytes": false, "replication.traffic[db-0 to db-1].sentBytesPerSecond": false,
		"replication.traffic[db-1 to db-0].sentBytes": false, "replication.traffic[db-1 to db-0].sentBytesPerSecond": false,
		"replication.traffic[db-1 to db-2].sentBytes": true,
	} {
		if f := figure.Read(&s, path); f.Value == nil || (f.AtMost != nil) != exact {
			t.Errorf("%s is %+v, exact: %t", path, f, exact)
		}
	}
}
