package wording_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/wording"
)

func TestNodesAreCounted(t *testing.T) {
	for n, want := range map[int32]string{1: "1 node", 3: "3 nodes"} {
		if got := wording.Nodes(v1alpha1.TopologySpec{Nodes: n}); got != want {
			t.Errorf("%d nodes are called %q, want %q", n, got, want)
		}
	}
}

func TestWhatWasAskedFor(t *testing.T) {
	spec := v1alpha1.ReplicationExperimentSpec{
		Load: v1alpha1.LoadSpec{Stages: []v1alpha1.Stage{
			{Name: "warmup", DurationSeconds: 5, Users: new(int64(4)), Discard: true}, {Name: "open", DurationSeconds: 45, RequestsPerSecond: 80}, {Name: "own", DurationSeconds: 7}, {Name: "idle", DurationSeconds: 9, Users: new(int64(0))},
		}},
		Faults: []v1alpha1.Fault{
			{Name: "crash", AtSeconds: 20, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill, HoldSeconds: 10},
			{Name: "cut", AtSeconds: 3, Target: v1alpha1.TargetAllReplicas, Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionPeers, HoldSeconds: -1},
			{Name: "one", AtSeconds: 0, Target: v1alpha1.TargetNode, Node: ptr.To[int32](0), Action: v1alpha1.ActionDeletePod},
		},
	}
	for name, want := range map[string]string{
		"warmup": "5 s of 4 users, discarded", "open": "45 s of 80 requests/s", "own": "7 s as the script defines", "idle": "9 s at rest", "none": "",
	} {
		if got := wording.Stage(spec, name); got != want {
			t.Errorf("stage %s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string][2]string{
		"crash": {"Kill of the Primary at 20 s", ", held for 10 s"}, "cut": {"Partition of all replicas from Peers at 3 s", ", held until the audit"},
		"one": {"DeletePod of node 0 at 0 s", ""}, "none": {"", ""},
	} {
		if got, held := wording.Fault(spec, name), wording.HeldFault(spec, name); got != want[0] || held != want[0]+want[1] {
			t.Errorf("fault %s is %q, %q, want %q", name, got, held, want)
		}
	}
	for want, g := range map[string]v1alpha1.GoalStatus{
		"met": {Met: metav1.ConditionTrue}, "not met": {Met: metav1.ConditionFalse}, "unknown": {Met: metav1.ConditionUnknown, Measured: new(int64)}, "not measured": {Met: metav1.ConditionUnknown},
	} {
		if got := wording.Met(g); got != want {
			t.Errorf("%+v is %q, want %q", g, got, want)
		}
	}
}
