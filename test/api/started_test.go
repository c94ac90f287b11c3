package api_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/kubetest"
)

const changedAfterStart = "spec cannot be changed once the experiment has started, apart from suspend and keep: create another experiment instead"

// changes has a change of every field of the spec; fixed ones are refused once the experiment has started.
var changes = map[string]struct {
	patch string
	fixed bool
}{
	"topology": {patch: `{spec: {topology: {durability: Relaxed}}}`, fixed: true},
	"routing":  {patch: `{spec: {routing: {proxy: None}}}`, fixed: true},
	"app":      {patch: `{spec: {app: {replicas: 2}}}`, fixed: true},
	"dataset":  {patch: `{spec: {dataset: {users: 5}}}`, fixed: true},
	"load":     {patch: `{spec: {load: {parallelism: 2}}}`, fixed: true},
	"faults":   {patch: `{spec: {faults: [{name: crash, atSeconds: 1, target: Primary, action: Kill}]}}`, fixed: true},
	"probes":   {patch: `{spec: {probes: {lag: {intervalMilliseconds: 50}}}}`, fixed: true},
	"goals":    {patch: `{spec: {goals: [{metric: lostWrites, max: 0}]}}`, fixed: true},
	"baseline": {patch: `{spec: {baseline: {name: other}}}`, fixed: true},
	"keep":     {patch: `{spec: {keep: Always}}`},
	"suspend":  {patch: `{spec: {suspend: true}}`},
}

func TestSpecIsFixedOnceStarted(t *testing.T) {
	waiting := create(t, `{metadata: {name: waiting}}`)
	started := create(t, `{metadata: {name: started}}`)
	start(t, started)
	for name := range readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
		t.Run(name, func(t *testing.T) {
			change, ok := changes[name]
			if !ok {
				t.Fatalf("changes has no change of spec.%s: add one", name)
			}
			if err := dryUpdate(t, waiting, change.patch); err != nil {
				t.Errorf("refused before the start: %v", err)
			}
			err := dryUpdate(t, started, change.patch)
			switch {
			case change.fixed && (err == nil || !strings.Contains(err.Error(), changedAfterStart)):
				t.Errorf("refusal after the start = %v, want one that says %q", err, changedAfterStart)
			case !change.fixed && err != nil:
				t.Errorf("refused after the start: %v", err)
			}
		})
	}
}

func TestOptionalPartsCannotBeRemovedOnceStarted(t *testing.T) {
	object := create(t, `{metadata: {name: whole}, spec: {
		faults: [{name: crash, atSeconds: 1, target: Primary, action: Kill}], goals: [{metric: lostWrites, max: 0}], baseline: {name: other}}}`)
	start(t, object)
	for _, name := range []string{"faults", "goals", "baseline"} {
		t.Run(name, func(t *testing.T) {
			err := dryUpdate(t, object, `{spec: {`+name+`: null}}`)
			if err == nil || !strings.Contains(err.Error(), changedAfterStart) {
				t.Errorf("refusal = %v, want one that says %q", err, changedAfterStart)
			}
		})
	}
}

// create makes an experiment that is gone when the test is over.
func create(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	object := experiment(t, patch)
	if err := kubetest.Client(t).Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kubetest.Client(t).Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
	})
	return object
}

func start(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	merge(object.Object, fromYAML(t, `{status: {startTime: "2026-01-02T03:04:05Z"}}`))
	if err := kubetest.Client(t).Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func dryUpdate(t *testing.T, object *unstructured.Unstructured, patch string) error {
	t.Helper()
	changed := object.DeepCopy()
	merge(changed.Object, fromYAML(t, patch))
	return kubetest.Client(t).Update(t.Context(), changed, client.DryRunAll)
}
