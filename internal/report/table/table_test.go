package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

func TestTableShowsAZeroThatWasMeasuredAndNothingThatWasNot(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{Status: v1alpha1.ReplicationExperimentStatus{
		Verdict: v1alpha1.VerdictPassed,
		Goals: []v1alpha1.GoalStatus{
			{Metric: "lostWrites", Limit: "max 0", Measured: ptr.To[int64](0), Met: metav1.ConditionTrue},
			{Metric: "outageMilliseconds", Limit: "max 9", Met: metav1.ConditionUnknown},
			{Metric: "requestsPerSecond", Limit: "min 80", Measured: ptr.To[int64](79), MeasuredMilli: ptr.To[int64](79_250), Met: metav1.ConditionUnknown},
			{Metric: "p99Microseconds", Limit: "max 9000", Measured: ptr.To[int64](8000), Met: metav1.ConditionUnknown},
		},
		Load: &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{
			Requests: 4000, Failures: 160, RequestsPerSecondMilli: ptr.To[int64](79_250), RequestsPerSecondMilliAtMost: ptr.To[int64](81_000),
			Latency: &v1alpha1.LatencyStatus{
				P50Microseconds: 3, P95Microseconds: 5, P99Microseconds: 8, MaxMicroseconds: 8, LowerBounds: []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max},
			},
		}},
		Writes: &v1alpha1.WritesStatus{Sent: 10, Acknowledged: 9, Rejected: 0, Indeterminate: 1, Lost: ptr.To[int64](0)},
		Replication: &v1alpha1.ReplicationStatus{
			Lag: &v1alpha1.LagStatus{Samples: 1, MaxMicroseconds: ptr.To[int64](7), LowerBounds: []v1alpha1.Percentile{v1alpha1.Max}},
			Group: &v1alpha1.GroupFigures{
				CertificationFailures: ptr.To[int64](0), FlowControlPausedPermille: ptr.To[int64](13), FlowControlPausedPermilleAtMost: ptr.To[int64](240), ReceiveQueueMax: ptr.To[int64](4), ReceiveQueueMaxAtMost: ptr.To[int64](9),
			},
		},
		Faults: []v1alpha1.FaultStatus{{
			Name: "crash", Pod: "semisync-0", Confirmed: metav1.ConditionTrue, RejoinMilliseconds: ptr.To[int64](900),
			Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncIST, DurationMilliseconds: ptr.To[int64](300), NetworkReceivedBytes: ptr.To[int64](77)},
		}},
		Nodes:   []v1alpha1.NodeStatus{{Name: "semisync-1", Role: v1alpha1.NodePrimary, Rows: ptr.To[int64](10010), GhostWrites: ptr.To[int64](0)}},
		Reasons: []string{"Because."},
	}}
	want := `Verdict    Passed
Goal       lostWrites max 0: met, measured 0
Goal       outageMilliseconds max 9: not measured
Goal       requestsPerSecond min 80: unknown, measured 79.25/s to 81/s
Goal       p99Microseconds max 9000: unknown, measured 8000
Load       4000 requests, 160 failed, 79.25/s to 81/s succeeded
Latency    p50 3 µs, p95 5 µs, p99 ≥ 8 µs, max ≥ 8 µs
Writes     10 sent: 9 acknowledged, 0 rejected, 1 indeterminate
           0 lost
Lag        1 samples, max ≥ 7 µs
Group      0 certification failures, flow control 1.3% to 24.0% of the time, longest receive queue 4 to 9
Fault      crash on semisync-0, confirmed: True, back in place after 900 ms by IST, its data took 300 ms, its pod received 77 bytes meanwhile
Node       semisync-1 Primary, 10010 rows, 0 ghost writes
Reason     Because.
`
	if diff := cmp.Diff(want, Result(x)); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestALongestQueueOfWhichNoUpperBoundIsKnown(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{Group: &v1alpha1.GroupFigures{ReceiveQueueMax: ptr.To[int64](4)}}
	if got := Result(x); !strings.Contains(got, "longest receive queue at least 4") {
		t.Error(got)
	}
}

func TestProgressIsThePhaseWithWhatItWaitsFor(t *testing.T) {
	cases := map[string]struct {
		phase      string
		conditions []metav1.Condition
		want       string
	}{
		"before the operator has seen it": {want: "Waiting for the operator"},
		"while a step waits": {phase: "Deploying", conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue},
			{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Message: "2 of 3 nodes are ready"},
		}, want: "Deploying: 2 of 3 nodes are ready"},
		"when a goal was not met": {phase: "Complete", conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Message: "lost 3"},
		}, want: "Complete"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			x := &v1alpha1.ReplicationExperiment{Status: v1alpha1.ReplicationExperimentStatus{Phase: c.phase, Conditions: c.conditions}}
			if got := Progress(x); got != c.want {
				t.Errorf("Progress = %q, want %q", got, c.want)
			}
		})
	}
}

// TestCommitsWithoutAReplica are told of in the words of who counts them.
func TestCommitsWithoutAReplica(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](4), DegradedCommitsAtMost: ptr.To[int64](9)}
	for milliseconds, want := range map[*int64]string{
		nil:                "Semi-sync  4 to 9 commits went on without a replica's acknowledgement\n",
		ptr.To[int64](310): "Standbys   4 to 9 commits went on without a replica's acknowledgement, none was waited for during 310 ms at least\n",
	} {
		x.Status.Replication.DegradedMilliseconds = milliseconds
		if got := Result(x); !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestCommitsWithoutAnUpperBound are at least so many, also where none was counted.
func TestCommitsWithoutAnUpperBound(t *testing.T) {
	for _, c := range []struct {
		most *int64
		want string
	}{{nil, "≥ 0 commits went on"}, {ptr.To[int64](0), "  0 commits went on"}} {
		x := &v1alpha1.ReplicationExperiment{}
		x.Status.Replication = &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](0), DegradedCommitsAtMost: c.most}
		if got := Result(x); !strings.Contains(got, c.want) {
			t.Errorf("no %q in:\n%s", c.want, got)
		}
	}
}

// TestBoundsAreShownAsBounds, as they are on the page.
func TestBoundsAreShownAsBounds(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{Status: v1alpha1.ReplicationExperimentStatus{
		Goals: []v1alpha1.GoalStatus{
			{Metric: "lostWrites", Limit: "max 9", Measured: ptr.To[int64](3), Met: metav1.ConditionUnknown},
			{Metric: "forcedAborts", Limit: "max 9", Measured: ptr.To[int64](2), Met: metav1.ConditionUnknown},
			{Metric: "requestsPerSecond", Limit: "min 80", Measured: ptr.To[int64](79), MeasuredMilli: ptr.To[int64](79_250), Met: metav1.ConditionUnknown},
			{Metric: "p99Microseconds", Limit: "max 9", Measured: ptr.To[int64](8), Met: metav1.ConditionUnknown},
			{Metric: "outageMilliseconds", Limit: "max 4500", Measured: ptr.To[int64](4800), Met: metav1.ConditionUnknown},
		},
		Writes:             &v1alpha1.WritesStatus{Lost: ptr.To[int64](3)},
		Faults:             []v1alpha1.FaultStatus{{Name: "crash", Pod: "x-0", OutageMilliseconds: ptr.To[int64](4800), OutageUncertaintyMilliseconds: ptr.To[int64](523)}},
		OutageMilliseconds: ptr.To[int64](4800), OutageUncertaintyMilliseconds: ptr.To[int64](523),
		Replication: &v1alpha1.ReplicationStatus{Group: &v1alpha1.GroupFigures{CertificationFailures: ptr.To[int64](0), ForcedAborts: ptr.To[int64](2)}},
		Load: &v1alpha1.LoadStatus{
			StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{P50Microseconds: 3, P95Microseconds: 5, P99Microseconds: 8, MaxMicroseconds: 8}},
			Stages:       []v1alpha1.StageStatus{{Name: "open", ClosedLoopHolds: metav1.ConditionFalse}},
		},
	}}
	without := x.DeepCopy() // a goal on losses
	without.Status.Goals, without.Status.Writes.LowerBounds = nil, []v1alpha1.WritesFigure{v1alpha1.Lost}
	if got := Result(without); !strings.Contains(got, " ≥ 3 lost\n") {
		t.Errorf("without a goal the losses are no lower bound:\n%s", got)
	}
	got := Result(x)
	for _, want := range []string{
		"lostWrites max 9: unknown, measured ≥ 3\n", "measured 4800, or up to 523 less\n", " ≥ 3 lost\n", "outage 4800 ms, or up to 523 ms less\n", "Outage     4800 ms, or up to 523 ms less\n",
		"forcedAborts max 9: unknown, measured ≥ 2\n", "measured 8 (contradicted by the closed loop)\n", "Group      0 certification failures, ≥ 2 forced aborts\n", "max 8 µs, contradicted by the closed loop\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
