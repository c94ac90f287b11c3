package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
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
			Requests: 4000, Failures: 160, RequestsPerSecondMilli: ptr.To[int64](79_250),
			Latency: &v1alpha1.LatencyStatus{
				P50Microseconds: 3, P95Microseconds: 5, P99Microseconds: 8, MaxMicroseconds: 8,
			},
		}},
		Writes: &v1alpha1.WritesStatus{Sent: 10, Acknowledged: 9, Rejected: 0, Indeterminate: 1, Lost: ptr.To[int64](0)},
		Replication: &v1alpha1.ReplicationStatus{
			Lag: &v1alpha1.LagStatus{Samples: 1, MaxMicroseconds: ptr.To[int64](7)},
			Group: &v1alpha1.GroupFigures{
				CertificationFailures: ptr.To[int64](0), FlowControlPausedPermille: ptr.To[int64](13), ReceiveQueueMax: ptr.To[int64](4),
			},
		},
		Faults: []v1alpha1.FaultStatus{{
			Name: "crash", Pod: "semisync-0", Confirmed: metav1.ConditionTrue, RejoinMilliseconds: ptr.To[int64](900),
			Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncIST, DurationMilliseconds: ptr.To[int64](300), NetworkReceivedBytes: ptr.To[int64](77)},
		}},
		Nodes:   []v1alpha1.NodeStatus{{Name: "semisync-1", Role: v1alpha1.NodePrimary, Rows: ptr.To[int64](10010), GhostWrites: ptr.To[int64](0)}},
		Reasons: []string{"Because."},
	}}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.Between("load.requestsPerSecondMilli", 79_250, 91_000, "why")
	b.AtLeast("load.latency.p99Microseconds", 8, "why")
	b.AtLeast("load.latency.maxMicroseconds", 8, "why")
	b.AtLeast("replication.lag.maxMicroseconds", 7, "why")
	b.Between("replication.group.flowControlPausedPermille", 13, 240, "why")
	b.Between("replication.group.receiveQueueMax", 4, 9, "why")
	want := `Verdict          Passed
Goal             lostWrites: limit max 0, measured 0, outcome met
Goal             outageMilliseconds: limit max 9, outcome not measured
Goal             requestsPerSecond: limit min 80, measured 79.25/s to 91/s, outcome unknown
Goal             p99Microseconds: limit max 9000, measured ≥ 8 µs, outcome unknown
Load             successful requests/s 79.25/s to 91/s, requests 4,000, failed requests 160
Latency          mean (successes) 0 µs, p50 3 µs, p95 5 µs, p99 ≥ 8 µs, maximum ≥ 8 µs
Replication lag  samples 1, seen at the first look 0, never seen 0, maximum ≥ 7 µs
Writes           sent writes 10, acknowledged writes 9, rejected writes 0, indeterminate writes 1, acknowledged writes lost 0
Group            certification failures 0, time paused by flow control 1.3 % to 24.0 %, longest receive queue 4 to 9
Fault            crash: pod semisync-0, planned 0001-01-01T00:00:00Z, injected no, resync by IST, rejoin time 900 ms, resync time 300 ms, received by its pod 77 B
Node             semisync-1: role Primary, rows 10,010, ghost writes 0
Reason           Because.
`
	if diff := cmp.Diff(want, Result(x)); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestALongestQueueOfWhichNoUpperBoundIsKnown(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{Group: &v1alpha1.GroupFigures{ReceiveQueueMax: ptr.To[int64](4)}}
	(*figure.Bounds)(&x.Status.Bounds).AtLeast("replication.group.receiveQueueMax", 4, "why")
	if got := Result(x); !strings.Contains(got, "longest receive queue ≥ 4") {
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

func TestCommitsWithoutAReplica(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](4)}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.Between("replication.degradedCommits", 4, 9, "why")
	b.AtLeast("replication.degradedMilliseconds", 310, "why")
	for milliseconds, want := range map[*int64]string{
		nil:                "Degraded         commits 4 to 9\n",
		ptr.To[int64](310): "Degraded         commits 4 to 9, for ≥ 310 ms\n",
	} {
		x.Status.Replication.DegradedMilliseconds = milliseconds
		if got := Result(x); !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
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
		Faults:             []v1alpha1.FaultStatus{{Name: "crash", Pod: "x-0", OutageMilliseconds: ptr.To[int64](4800)}},
		OutageMilliseconds: ptr.To[int64](4800),
		Replication:        &v1alpha1.ReplicationStatus{Group: &v1alpha1.GroupFigures{CertificationFailures: ptr.To[int64](0), ForcedAborts: ptr.To[int64](2)}},
		Load:               &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{P50Microseconds: 3, P95Microseconds: 5, P99Microseconds: 8, MaxMicroseconds: 8}}},
	}}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.AtLeast("writes.lost", 3, "why")
	b.AtLeast("replication.group.forcedAborts", 2, "why")
	b.Between("outageMilliseconds", 4277, 4800, "why")
	b.Between("faults[crash].outageMilliseconds", 4277, 4800, "why")
	b.Unknown("load.latency.p99Microseconds", "it is contradicted")
	got := Result(x)
	for _, want := range []string{
		"lostWrites: limit max 9, measured ≥ 3, outcome unknown\n", "measured 4.277 s to 4.8 s, outcome", "acknowledged writes lost ≥ 3", "outage 4.277 s to 4.8 s\n", "longest outage 4.277 s to 4.8 s\n",
		"forcedAborts: limit max 9, measured ≥ 2, outcome unknown\n", "measured 8 µs (it is contradicted)", "Group            certification failures 0, forced aborts ≥ 2\n", "p99 8 µs (it is contradicted)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
