package plugin

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

func TestListShowsWhatWasMeasuredAndADashForWhatWasNot(t *testing.T) {
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	full := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "full", Namespace: "a", CreationTimestamp: metav1.NewTime(created)}}
	full.Spec.Topology.Type, full.Spec.Topology.Engine = v1alpha1.TopologySemiSync, v1alpha1.EngineMySQL
	full.Status = ended(v1alpha1.VerdictPassed)
	full.Status.Columns = map[string]string{
		"requestsPerSecond": "80/s–90/s", "p99Microseconds": "≥4.223ms", "lagP99Microseconds": "441µs", "lostWrites": "0", "ghostWrites": "2", "outageMilliseconds": "12.34s",
	}
	bare := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "b", CreationTimestamp: metav1.NewTime(created.Add(time.Minute))}}
	want := [][]string{
		{"NAMESPACE", "NAME", "TOPOLOGY", "ENGINE", "PHASE", "VERDICT", "REQUESTS/S", "P99", "LAG-P99", "OUTAGE", "LOST", "GHOSTS", "AGE"},
		{"a", "full", "SemiSync", "MySQL", "Complete", "Passed", "80/s–90/s", "≥4.223ms", "441µs", "12.34s", "0", "2", "2m"},
		{"b", "bare", "", "-", "-", "-", "-", "-", "-", "-", "-", "-", "60s"},
	}
	if diff := cmp.Diff(want, rows([]v1alpha1.ReplicationExperiment{full, bare}, true, created.Add(2*time.Minute))); diff != "" {
		t.Error("(-want +got):\n" + diff)
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
	if got := command(t, "nobody", "list"); got.code != ExitOK || got.out != "" || !strings.Contains(got.err, "no experiments and no suites in namespace nobody") {
		t.Errorf("of an empty namespace: %+v", got)
	}
}
