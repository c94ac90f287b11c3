package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	crd "replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// annotationBytes is how much the API server takes in all annotations of an object. `kubectl apply` keeps the whole object in one.
const annotationBytes = 256 << 10

func TestTheCRDIsSmallEnoughForKubectlApply(t *testing.T) {
	text, err := os.ReadFile(kubetest.CRDFile())
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if most := annotationBytes - 1<<10; len(written) > most {
		t.Errorf("the CRD has %d bytes as JSON, and kubectl apply takes %d: shorten its rules or its descriptions", len(written), most)
	}
}

// TestTheMostFaultsAreJudged: rules that look at each fault beside each other, and at each stage, zone and node, are done within what
// the API server lets them cost. Whether such faults make sense does not matter here.
func TestTheMostFaultsAreJudged(t *testing.T) {
	list := func(n int, item string) string {
		var items []string
		for i := range n {
			items = append(items, strings.ReplaceAll(item, "#", fmt.Sprint(i)))
		}
		return strings.Join(items, ", ")
	}
	zones := list(most(t, "topology", "zones"), "{name: z#, nodes: [#]}")
	stages := list(most(t, "load", "stages")-1, "{name: s#, durationSeconds: 60, users: 1, discard: true}")
	for _, kind := range []string{"Async", "Galera", "Patroni"} {
		for _, fault := range []string{
			"target: Node, node: 3, action: Partition, partitionFrom: Zone, holdSeconds: 1",
			"target: Node, node: 9, action: Partition, partitionFrom: Peers, holdSeconds: 1",
			"target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: -1",
			"target: Primary, action: Kill",
			"target: Replica, action: Kill",
			"target: Node, node: 9, action: Pause, holdSeconds: -1",
			"target: Primary, action: Switchover",
			"target: Replica, action: Kill, holdSeconds: -1|target: Node, node: #, action: Kill, holdSeconds: -1|target: Primary, action: Kill, holdSeconds: -1",
			"target: Node, node: #, action: Kill, holdSeconds: -1|target: Replica, action: Partition, partitionFrom: Everyone, holdSeconds: -1|target: Primary, action: Pause, holdSeconds: -1",
			"target: Node, node: 4, action: Partition, partitionFrom: Zone, holdSeconds: -1|target: Node, node: 9, action: DeletePod, holdSeconds: -1|target: Node, node: #, action: Kill",
		} {
			var kinds []string
			for i, kind := range strings.Split(fault, "|") { // one kind after the other
				kinds = append(kinds, list(15/(1+strings.Count(fault, "|")), fmt.Sprintf("{name: f%d-#, atSeconds: %d#, %s}", i, i+1, kind)))
			}
			faults := strings.Join(kinds, ", ") + ", {name: last, atSeconds: 250, target: Primary, action: Switchover}"
			x := minimalWith(t, fmt.Sprintf("{spec: {topology: {type: %s, replicas: 9, zones: [%s]}, load: {stages: [{name: first, durationSeconds: 300, users: 1}, %s]}, faults: [%s]}}",
				kind, zones, stages, faults))
			if err := dryRun(t, x); err != nil && (strings.Contains(err.Error(), "cost") || strings.Contains(err.Error(), notChecked)) {
				t.Errorf("type %s, as many faults {%s} as there may be are not judged: %v", kind, fault, err)
			}
		}
	}
}

// notChecked is what the API server says where it looked at no rule, since the object has other errors.
const notChecked = "rules were not checked"

// most is how many items a list of the spec may have.
func most(t *testing.T, path ...string) int {
	t.Helper()
	field := crd.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for _, name := range path {
		field = field.Properties[name]
	}
	if field.MaxItems == nil {
		t.Fatalf("spec.%s may have any number of items", strings.Join(path, "."))
	}
	return int(*field.MaxItems)
}

// TestTheServerSaysWhereItLookedAtNoRule in the words that the test above goes by.
func TestTheServerSaysWhereItLookedAtNoRule(t *testing.T) {
	stages := strings.Repeat("{name: same, durationSeconds: 60, users: 1}, ", most(t, "load", "stages")+1)
	x := minimalWith(t, "{spec: {load: {stages: ["+stages+"]}}}")
	if err := dryRun(t, x); err == nil || !strings.Contains(err.Error(), notChecked) {
		t.Errorf("of one stage too many the server says: %v", err)
	}
}
