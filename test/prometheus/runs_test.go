//go:build e2e

package prometheus

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

type fields = map[string]any

// run is an experiment that is carried out, and what Prometheus is to know of it.
type run struct {
	// name is of the experiment, and of its file in the folder experiments.
	name   string
	change func(spec fields)
	// rows of topology.json are those with data of such a topology.
	rows []string
	// components are those whose pods last as long as the experiment is kept.
	components []string
	began      time.Time
	status     status
}

// status is what is read of a run's.
type status struct {
	Verdict string `json:"verdict"`
	Reasons any    `json:"reasons"`
	Load    struct {
		Failures int64 `json:"failures"`
	} `json:"load"`
	Faults []any   `json:"faults"`
	Bounds []bound `json:"bounds"`
}

type bound struct {
	Figure  string `json:"figure"`
	Because string `json:"because"`
}

// bound says why a figure is not in a run's metrics, "" where it is to be.
func (s status) bound(figure string) string {
	for _, b := range s.Bounds {
		if b.Figure == figure {
			return figure + " is not exact: " + b.Because
		}
	}
	return ""
}

// runs are one of each kind of topology that dashboards have panels for, each with a fault, and one of them with a distance. In one more nothing goes
// wrong: where requests fail percentiles may be lower bounds, of which there are no metrics.
func runs() []*run {
	return []*run{
		{
			name: "patroni-sync", change: shorter, rows: []string{"Nodes", "Patroni: managers and standbys"},
			components: []string{"node", "proxy", "social", "recorder"},
		},
		{
			name: "async", change: calm, rows: []string{"Nodes"},
			components: []string{"node", "director", "proxy", "social", "recorder"},
		},
		{
			name: "semisync", change: apart, rows: []string{"Nodes", "Async and semi-sync: director and leases", "Distance"},
			components: []string{"node", "director", "proxy", "social", "recorder"},
		},
		{
			name: "galera", change: func(fields) {}, rows: []string{"Nodes", "Galera: the group"},
			components: []string{"node", "proxy", "social", "recorder"},
		},
	}
}

// calm has no fault, and few requests.
func calm(spec fields) {
	delete(spec, "faults")
	stages := spec["load"].(fields)["stages"].([]any)
	stages[len(stages)-1].(fields)["requestsPerSecond"] = 20
}

// apart has the replicas 4 ms away.
func apart(spec fields) {
	topology := spec["topology"].(fields)
	topology["zones"] = []fields{{"name": "here", "nodes": []int{0}}, {"name": "there", "nodes": []int{1, 2}}}
	topology["links"] = []fields{{"from": "here", "to": "there", "roundTripMilliseconds": 4}}
}

// shorter has one fault of two, which is enough for each of Patroni's metrics.
func shorter(spec fields) {
	stages := spec["load"].(fields)["stages"].([]any)
	stages[len(stages)-1].(fields)["durationSeconds"] = 70
	crash := spec["faults"].([]any)[0].(fields)
	crash["atSeconds"] = 15
	spec["faults"] = []any{crash}
}

// manifest of a run in a namespace, which is kept when it is over.
func (r *run) manifest(t *testing.T, namespace string) string {
	t.Helper()
	var x fields
	if err := yaml.Unmarshal(read(t, "../../experiments/"+r.name+".yaml"), &x); err != nil {
		t.Fatal(err)
	}
	x["metadata"].(fields)["namespace"] = namespace
	spec := x["spec"].(fields)
	spec["keep"] = "Always"
	r.change(spec)
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// carryOut a run. What its verdict is is nobody's business here: on a machine that has much else to do it is Inconclusive, and there are figures all
// the same.
func (c cluster) carryOut(t *testing.T, namespace string, r *run) {
	t.Helper()
	r.began = time.Now()
	c.do(t, r.manifest(t, namespace), "create", "-f", "-")
	c.do(t, "", "wait", "--for=condition=Complete", "--timeout=20m", "--namespace", namespace, resource+r.name)
	x := struct {
		Status *status `json:"status"`
	}{&r.status}
	c.get(t, &x, "--namespace", namespace, resource+r.name)
	t.Logf("%s: %s after %.0f s %.300s", r.name, r.status.Verdict, time.Since(r.began).Seconds(), fmt.Sprint(r.status.Reasons))
}

// remove a run, which leaves the machine to the next one.
func (c cluster) remove(t *testing.T, namespace string, r *run) {
	t.Helper()
	c.do(t, "", "delete", "--timeout=5m", "--namespace", namespace, resource+r.name)
}

const resource = "replicationexperiments.replab.dev/"
