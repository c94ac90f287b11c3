package api_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// startedOnly are beginnings of the messages of rules that only hold once an experiment has started.
var startedOnly = regexp.MustCompile(`^spec\.[a-zA-Z]+ (cannot be changed|cannot be taken back) once the experiment has started: |^spec\.suspend keeps an experiment`)

// changes has a change of every field of the spec, and what refuses it once the experiment has started.
var changes = map[string]struct {
	patch string
	fixed bool
	says  string // for one that is refused for another reason than the others
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
	"pods":     {patch: `{spec: {pods: {all: {priorityClassName: high}}}}`, fixed: true},

	"deadlineSeconds":         {patch: `{spec: {deadlineSeconds: 600}}`, fixed: true},
	"suspend":                 {patch: `{spec: {suspend: true}}`, fixed: true, says: "this one has started: set spec.abort to true to end it"},
	"keep":                    {patch: `{spec: {keep: Always}}`},
	"abort":                   {patch: `{spec: {abort: true}}`},
	"ttlSecondsAfterFinished": {patch: `{spec: {ttlSecondsAfterFinished: 0}}`},
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
			says := change.says
			if says == "" {
				says = "cannot be changed once the experiment has started: create another experiment instead"
			}
			err := dryUpdate(t, started, change.patch)
			switch {
			case change.fixed && (err == nil || !strings.Contains(err.Error(), "spec."+name+": ") || !strings.Contains(err.Error(), says)):
				t.Errorf("refusal after the start = %v, want one that names spec.%s and says %q", err, name, says)
			case !change.fixed && err != nil:
				t.Errorf("refused after the start: %v", err)
			}
		})
	}
}

func TestOptionalPartsCannotBeRemovedOnceStarted(t *testing.T) {
	object := create(t, `{metadata: {name: whole}, spec: {
		faults: [{name: crash, atSeconds: 1, target: Primary, action: Kill}], goals: [{metric: lostWrites, max: 0}], baseline: {name: other},
		pods: {all: {priorityClassName: high}}, deadlineSeconds: 600}}`)
	start(t, object)
	for _, name := range []string{"faults", "goals", "baseline", "pods", "deadlineSeconds"} {
		t.Run(name, func(t *testing.T) {
			err := dryUpdate(t, object, `{spec: {`+name+`: null}}`)
			says := "spec." + name + " cannot be changed once the experiment has started"
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("refusal = %v, want one that says %q", err, says)
			}
		})
	}
}

func TestAbortIsFinalOnceStarted(t *testing.T) {
	waiting := create(t, `{metadata: {name: waiting}, spec: {abort: true}}`)
	if err := dryUpdate(t, waiting, `{spec: {abort: false}}`); err != nil {
		t.Errorf("refused before the start: %v", err)
	}
	start(t, waiting)
	for _, patch := range []string{`{spec: {abort: false}}`, `{spec: {abort: null}}`} {
		err := dryUpdate(t, waiting, patch)
		if err == nil || !strings.Contains(err.Error(), "spec.abort cannot be taken back once the experiment has started") {
			t.Errorf("%s: refusal = %v, want one that says that it cannot be taken back", patch, err)
		}
	}
}

// TestASuspendedExperimentThatStartedGoesOn: suspend may stay as it is, so that nothing else of the experiment gets stuck.
func TestASuspendedExperimentThatStartedGoesOn(t *testing.T) {
	object := create(t, `{metadata: {name: both}, spec: {suspend: true}}`)
	start(t, object)
	for _, patch := range []string{`{spec: {keep: Always}}`, `{spec: {suspend: false}}`, `{metadata: {labels: {a: b}}}`} {
		if err := dryUpdate(t, object, patch); err != nil {
			t.Errorf("%s is refused: %v", patch, err)
		}
	}
}

// create makes an experiment that is gone when the test is over.
func create(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	object := minimalWith(t, patch)
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
	experiment.Merge(object.Object, fromYAML(t, `{status: {startTime: "2026-01-02T03:04:05Z"}}`))
	if err := kubetest.Client(t).Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func dryUpdate(t *testing.T, object *unstructured.Unstructured, patch string) error {
	t.Helper()
	changed := object.DeepCopy()
	experiment.Merge(changed.Object, fromYAML(t, patch))
	return kubetest.Client(t).Update(t.Context(), changed, client.DryRunAll)
}
