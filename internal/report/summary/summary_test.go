package summary

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/terminal"
)

func TestWhatIsKeptIsNamed(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	for reason, want := range map[string]bool{v1alpha1.ReasonKept: true, v1alpha1.ReasonRemaining: false} {
		x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCleanedUp, Reason: reason}}
		if got := strings.Contains(written(x), "Kept      pods and volumes, until"); got != want {
			t.Errorf("%s: %s", reason, written(x))
		}
	}
}

// written is the summary in a terminal of 80 columns.
func written(x *v1alpha1.ReplicationExperiment) string {
	var b strings.Builder
	Write(terminal.Screen{Writer: &b, Columns: 80}, x)
	return b.String()
}

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
		Reasons: []string{"Because."}, Notes: []string{"One run proves little."},
	}}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.Between("load.requestsPerSecondMilli", 79_250, 91_000, "why")
	b.AtLeast("load.latency.p99Microseconds", 8, "why")
	b.AtLeast("load.latency.maxMicroseconds", 8, "why")
	b.AtLeast("replication.lag.maxMicroseconds", 7, "why")
	b.Between("replication.group.flowControlPausedPermille", 13, 240, "why")
	b.Between("replication.group.receiveQueueMax", 4, 9, "why")
	want := `Verdict   Passed
Reason    Because.
Goal      met           lostWrites 0 (max 0)
Goal      not measured  outageMilliseconds (max 9 ms)
Goal      unknown       requestsPerSecond 79.25/s to 91/s (min 80/s)
Goal      unknown       p99Microseconds ≥ 8 µs (max 9 ms)
Writes    lost 0, indeterminate 1, rejected 0, sent 10
Load      79.25/s to 91/s, p50 3 µs, p99 ≥ 8 µs, failed 160, requests 4,000
Lag       max ≥ 7 µs
Group     certification failures 0, paused by flow control 1.3% to 24.0%,
          longest receive queue 4 to 9
Fault     crash: fault on semisync-0, not begun, resync by IST,
          rejoined after 900 ms
Node      semisync-1: Primary, rows 10,010, ghosts 0
Note      One run proves little.
`
	if diff := cmp.Diff(want, written(x)); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestALongestQueueOfWhichNoUpperBoundIsKnown(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{Group: &v1alpha1.GroupFigures{ReceiveQueueMax: ptr.To[int64](4)}}
	(*figure.Bounds)(&x.Status.Bounds).AtLeast("replication.group.receiveQueueMax", 4, "why")
	if got := written(x); !strings.Contains(got, "longest receive queue ≥ 4") {
		t.Error(got)
	}
}

func TestCommitsWithoutAReplica(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Replication = &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](4)}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.Between("replication.degradedCommits", 4, 9, "why")
	b.AtLeast("replication.degradedMilliseconds", 310, "why")
	for milliseconds, want := range map[*int64]string{
		nil:                "Degraded  commits 4 to 9\n",
		ptr.To[int64](310): "Degraded  commits 4 to 9, for ≥ 310 ms\n",
	} {
		x.Status.Replication.DegradedMilliseconds = milliseconds
		if got := written(x); !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestAtLeastZeroIsLeftOutButOfLosses(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}
	x.Status.Replication = &v1alpha1.ReplicationStatus{DegradedCommits: ptr.To[int64](0)}
	b := (*figure.Bounds)(&x.Status.Bounds)
	b.AtLeast("replication.degradedCommits", 0, "why")
	b.AtLeast("writes.lost", 0, "why")
	if got := written(x); strings.Contains(got, "Degraded") || !strings.Contains(got, "lost ≥ 0") {
		t.Error(got)
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
	got := written(x)
	for _, want := range []string{
		"lostWrites ≥ 3 (max 9)\n", "Goal      unknown  outageMilliseconds 4.277 s to 4.8 s (max 4.5 s)\n", "Writes    lost ≥ 3, ", ", outage 4.277 s to 4.8 s\n", "Outage    4.277 s to 4.8 s\n",
		"forcedAborts ≥ 2 (max 9)\n", "p99Microseconds 8 µs (it is contradicted)", "Group     certification failures 0, forced aborts ≥ 2\n", ", p99 8 µs?",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestLostWritesThatWereNotCountedAreNotLeftOut: who reads no figure would take it for 0.
func TestLostWritesThatWereNotCountedAreNotLeftOut(t *testing.T) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Status.Writes = &v1alpha1.WritesStatus{Sent: 10}
	if got := written(x); !strings.Contains(got, "Writes    lost not measured, ") {
		t.Error(got)
	}
}
