package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

const startedSuite = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: suite, namespace: default}
spec:
  template: {spec: {topology: {type: Async, nodes: 3}}}
  variants: [{name: a}, {name: b, patch: {dataset: {users: 1}}}]
  trials: 6
  drawFaults: {actions: [Kill]}
  comparisons: [{of: a, to: b, metrics: [requests]}]
  expectations: [{variant: a, metric: lostWrites, max: 0}]
  reference: [{variant: a, metric: requests, value: "5", source: a page}]
`

// suiteChanges has another value of each field of a suite's spec, and says whether it is fixed once the suite has started.
var suiteChanges = map[string]struct {
	values []string
	fixed  bool
}{
	"template":     {[]string{"{spec: {topology: {type: Async, nodes: 4}}}", "{spec: {topology: {type: Async, nodes: 3}, dataset: {users: 1}}}"}, true},
	"variants":     {[]string{"[{name: a}]", "[{name: a}, {name: b}]", "[{name: a}, {name: b, patch: {dataset: {users: 2}}}]"}, true},
	"trials":       {[]string{"7"}, true},
	"order":        {[]string{"Sequential"}, true},
	"seed":         {[]string{"2"}, true},
	"drawFaults":   {[]string{"{actions: [Pause]}", "null"}, true},
	"comparisons":  {[]string{"[{of: a, to: b, metrics: [requestsPerSecond]}]", "null"}, true},
	"expectations": {[]string{"[{variant: a, metric: lostWrites, max: 1}]", "null"}, true},
	"reference":    {[]string{`[{variant: a, metric: requests, value: "6", source: a page}]`, "null"}, true},
	"retries":      {[]string{"0"}, true},

	"keepTrials":              {[]string{"0"}, false},
	"suspend":                 {[]string{"true"}, false},
	"abort":                   {[]string{"true"}, false},
	"ttlSecondsAfterFinished": {[]string{"60"}, false},
}

func TestSpecOfASuiteIsFixedOnceStarted(t *testing.T) {
	d, err := suites()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(suiteChanges)), slices.Sorted(maps.Keys(d.schema.Properties["spec"].Properties)); !slices.Equal(got, want) {
		t.Fatalf("suiteChanges has %v, and the spec %v", got, want)
	}
	for name, change := range suiteChanges {
		for _, value := range change.values {
			if got := updated(t, d, name, value, ""); got != "" {
				t.Errorf("%s: %s: refused before the start: %s", name, value, got)
			}
			got, want := updated(t, d, name, value, "status: {startTime: '2026-01-02T03:04:05Z'}\n"), ""
			if change.fixed {
				want = "spec." + name + " cannot be changed once the suite has started: create another suite instead"
			}
			if !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("%s: %s: refused after the start with %q, want %q", name, value, got, want)
			}
		}
	}
}

// updated is what the API server's library says to a change of a field of the spec.
func updated(t *testing.T, d *definition, field, value, status string) string {
	t.Helper()
	parsed := func(text string) map[string]any {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		u, err := decoded(u)
		if err != nil {
			t.Fatal(err)
		}
		return u.Object
	}
	object := func() map[string]any {
		x := &unstructured.Unstructured{Object: parsed(startedSuite + status)}
		if errs := d.admit(t.Context(), x); len(errs) > 0 {
			t.Fatal(errs)
		}
		return x.Object
	}
	before, after := object(), object()
	spec := after["spec"].(map[string]any)
	if spec[field] = parsed("value: " + value)["value"]; spec[field] == nil {
		delete(spec, field)
	}
	if errs := d.admit(t.Context(), &unstructured.Unstructured{Object: after}); len(errs) > 0 {
		t.Fatalf("%s: %s: %v", field, value, errs)
	}
	failed, _ := d.rules.Validate(t.Context(), nil, d.schema, after, before, celconfig.RuntimeCELCostBudget)
	if len(failed) == 0 {
		return ""
	}
	return failed.ToAggregate().Error()
}
