package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// columns are what `kubectl get repx` shows for measured below. Age is left out: it is when the test ran.
var columns = [][2]string{
	{"Name", "measured"},
	{"Topology", "Single"},
	{"Phase", "Complete"},
	{"Verdict", "Failed"},
	{"Requests/s", "481-490"},
	{"P99", "9.216ms"},
	{"Lag-P99", "1.5ms"},
	{"Lost", "3"},
	{"Ghosts", "4"},
	{"Outage", "≥2.4s"},
}

const measured = `
status:
  phase: Complete
  verdict: Failed
  ghostWrites: 4
  load:
    requests: 100
    failures: 0
    durationMilliseconds: 200
    requestsPerSecond: 481
    latency: {meanMicroseconds: 1, p50Microseconds: 1, p95Microseconds: 1, p99Microseconds: 9216, maxMicroseconds: 9999}
  writes: {sent: 10, acknowledged: 10, rejected: 0, indeterminate: 0, lost: 3}
  replication: {lag: {samples: 1, censored: 0, unseen: 0, p99Microseconds: 1500}}
  outageMilliseconds: 2400
  failover: {outageMilliseconds: 700}
  columns: {requestsPerSecond: 481-490, p99Microseconds: 9.216ms, lagP99Microseconds: 1.5ms, lostWrites: "3", ghostWrites: "4", outageMilliseconds: ≥2.4s}
`

func TestGetShowsTheFiguresInColumns(t *testing.T) {
	names, cells := table(t, `{metadata: {name: measured}}`, measured)
	for _, column := range columns {
		i := slices.Index(names, column[0])
		if i < 0 {
			t.Errorf("there is no column %s among %v", column[0], names)
			continue
		}
		if got := fmt.Sprint(cells[i]); got != column[1] {
			t.Errorf("column %s shows %s, want %s", column[0], got, column[1])
		}
	}
	if len(names) != len(columns)+1 {
		t.Errorf("columns are %v, want those of the table above and Age", names)
	}
}

func TestGetShowsNothingForWhatWasNotMeasured(t *testing.T) {
	names, cells := table(t, `{metadata: {name: unmeasured}}`, `{status: {phase: Running}}`)
	for i, name := range names {
		if !slices.Contains([]string{"Name", "Topology", "Phase", "Age"}, name) && cells[i] != nil {
			t.Errorf("column %s shows %v though nothing was measured", name, cells[i])
		}
	}
}

// table is the one row that `kubectl get` receives for an experiment with a status.
func table(t *testing.T, patch, status string) (names []string, cells []any) {
	t.Helper()
	object := create(t, patch)
	experiment.Merge(object.Object, fromYAML(t, status))
	if err := kubetest.Client(t).Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	config := kubetest.Config(t)
	config.GroupVersion = &schema.GroupVersion{Group: "replab.dev", Version: "v1alpha1"}
	config.APIPath = "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.Get().Namespace("default").Resource("replicationexperiments").Name(object.GetName()).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var answer metav1.Table
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.ColumnDefinitions {
		names = append(names, c.Name)
	}
	return names, answer.Rows[0].Cells
}
