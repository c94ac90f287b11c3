package plugin

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

func TestListShowsWhatWasMeasuredAndADashForWhatWasNot(t *testing.T) {
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	full := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "full", Namespace: "a", CreationTimestamp: metav1.NewTime(created)}}
	full.Spec.Topology.Type, full.Spec.Topology.Engine = v1alpha1.TopologySemiSync, v1alpha1.EngineMySQL
	full.Status = ended(v1alpha1.VerdictPassed)
	full.Status.Load = &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{
		Latency: &v1alpha1.LatencyStatus{P99Microseconds: 4223, LowerBounds: []v1alpha1.Percentile{v1alpha1.P99}},
	}, RequestsPerSecondText: "80-83"}
	full.Status.Replication = &v1alpha1.ReplicationStatus{Lag: &v1alpha1.LagStatus{P99Microseconds: ptr.To[int64](441)}}
	full.Status.Writes, full.Status.GhostWrites, full.Status.OutageMilliseconds = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}, ptr.To[int64](2), ptr.To[int64](12340)
	doubted := full.DeepCopy()
	doubted.Status.Load.Stages = []v1alpha1.StageStatus{{Name: "open", ClosedLoopHolds: metav1.ConditionFalse}}
	if got := row(doubted, created)[6]; got != "≥4.22ms?" {
		t.Errorf("a p99 that a closed loop contradicts is %s", got)
	}
	bare := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "b", CreationTimestamp: metav1.NewTime(created.Add(time.Minute))}}
	want := [][]string{
		{"NAMESPACE", "NAME", "TOPOLOGY", "ENGINE", "PHASE", "VERDICT", "REQUESTS/S", "P99", "LAG-P99", "LOST", "GHOSTS", "OUTAGE", "AGE"},
		{"a", "full", "SemiSync", "MySQL", "Complete", "Passed", "80-83", "≥4.22ms", "441µs", "0", "2", "12.3s", "2m"},
		{"b", "bare", "", "-", "-", "-", "-", "-", "-", "-", "-", "-", "60s"},
	}
	if diff := cmp.Diff(want, rows([]v1alpha1.ReplicationExperiment{full, bare}, true, created.Add(2*time.Minute))); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

// TestListRoundsNoBoundAway: a lower bound is never shown as more, and an upper one never as less.
func TestListRoundsNoBoundAway(t *testing.T) {
	for us, want := range map[int64]string{9996: "≥9.99ms", 99_960: "≥99.9ms", 999_600: "≥999ms", 12_349_990: "≥12.3s", 1_999_999: "≥1.99s", 999: "≥999µs", 0: "≥0µs", 150_900_000: "≥150s"} {
		if got := percentile(&us, []v1alpha1.Percentile{v1alpha1.P99}); got != want {
			t.Errorf("at least %d µs is %s, want %s", us, got, want)
		}
	}
	for ms, want := range map[int64]string{12_340: "≤12.4s", 9994: "≤10.0s", 9990: "≤9.99s", 100: "≤100ms", 99_910: "≤100s", 0: "≤0µs", 150_100: "≤151s"} {
		s := v1alpha1.ReplicationExperimentStatus{OutageMilliseconds: &ms, OutageUncertaintyMilliseconds: ptr.To[int64](7)}
		if got := outage(s); got != want {
			t.Errorf("at most %d ms is %s, want %s", ms, got, want)
		}
		s.OutageLowerBound, s.OutageMilliseconds = true, ptr.To[int64](12_390)
		if got := outage(s); got != "≥12.3s" {
			t.Errorf("one that did not end is %s", got)
		}
	}
	status := v1alpha1.ReplicationExperimentStatus{Writes: &v1alpha1.WritesStatus{}}
	if got := losses(ptr.To[int64](3), status); got != "3" {
		t.Errorf("losses are %s", got)
	}
	status.Writes.LowerBounds = []v1alpha1.WritesFigure{v1alpha1.Lost}
	if got := losses(ptr.To[int64](3), status); got != "≥3" || losses(nil, status) != "-" {
		t.Errorf("losses that are a lower bound are %s", got)
	}
	status = v1alpha1.ReplicationExperimentStatus{Goals: []v1alpha1.GoalStatus{{Metric: "lostWrites", Measured: ptr.To[int64](3), Met: metav1.ConditionUnknown}}}
	if got := losses(ptr.To[int64](3), status); got != "≥3" || losses(nil, status) != "-" {
		t.Errorf("losses of an open goal are %s", got)
	}
}

func TestListOfANamespaceAndOfAll(t *testing.T) {
	here, there := namespace(t), namespace(t)
	stored(t, here, "first", ended(v1alpha1.VerdictFailed))
	stored(t, there, "second", v1alpha1.ReplicationExperimentStatus{})
	got := command(t, here, "list")
	if got.code != ExitOK || !strings.Contains(got.out, "first") || !strings.Contains(got.out, "Failed") || strings.Contains(got.out, "second") {
		t.Errorf("%+v", got)
	}
	if got := command(t, here, "list", "-A"); !strings.Contains(got.out, there) || !strings.Contains(got.out, here) {
		t.Errorf("of all: %+v", got)
	}
	if got := command(t, here, "list", "-o", "name"); got.out != "replicationexperiment.replab.dev/first\n" {
		t.Errorf("names: %+v", got)
	}
	if got := command(t, here, "list", "-o", "yaml"); !strings.Contains(got.out, "kind: ReplicationExperimentList") || !strings.Contains(got.out, "verdict: Failed") {
		t.Errorf("YAML: %+v", got)
	}
	if got := command(t, "nobody", "list"); got.code != ExitOK || got.out != "" || !strings.Contains(got.err, "no experiments in namespace nobody") {
		t.Errorf("of an empty namespace: %+v", got)
	}
}
