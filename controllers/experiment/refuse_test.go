package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/test/experiment"
)

// TestEveryErrorOfASpecIsListed in the condition and as a reason of its own, and nothing is made.
func TestEveryErrorOfASpecIsListed(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	x.Spec.DeadlineSeconds = ptr.To(int64(1))
	x.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To(int64(-1))}}
	x.Spec.Topology.Parameters = map[string]string{"innodb_buffer_pool_size": "1Gi"}
	w := newWorld(t, x)
	found := play(t, w, w, x)
	c := meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != v1alpha1.ReasonSpecRefused || found.Status.Verdict != v1alpha1.VerdictInconclusive || !isTrue(found.Status.Conditions, v1alpha1.ConditionComplete) {
		t.Fatalf("it ends %s, %+v", found.Status.Verdict, c)
	}
	reasons := strings.Join(found.Status.Reasons, "\n")
	for _, field := range []string{"spec.deadlineSeconds: ", "spec.goals[0].max: ", "spec.topology.parameters[innodb_buffer_pool_size]: "} {
		if !strings.Contains(c.Message, field) || !strings.Contains(reasons, "Accepted: "+field) {
			t.Errorf("%s is not named: %s; %s", field, c.Message, reasons)
		}
	}
	made := func(what string) bool { return strings.HasPrefix(what, "create ") || strings.HasPrefix(what, "apply ") }
	if found.Status.StartTime != nil || len(w.objects) > 0 || slices.ContainsFunc(w.log, made) {
		t.Errorf("it has started at %v and made %v", found.Status.StartTime, w.log)
	}
}

// trying is a world whose API server says something of the objects of a plan.
type trying struct {
	*world
	says  func(client.Object) error
	tries int
}

func (w *trying) Try(_ context.Context, _ *v1alpha1.ReplicationExperiment, o client.Object) error {
	w.tries++
	return w.says(o)
}

// TestThePlanIsTriedBeforeAnythingIsMade: what is invalid is refused with the object's name, and what is merely forbidden now is not.
func TestThePlanIsTriedBeforeAnythingIsMade(t *testing.T) {
	invalid := func(o client.Object) error {
		if _, is := o.(*corev1.Service); !is {
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, o.GetName(), nil)
	}
	for name, c := range map[string]struct {
		says    func(client.Object) error
		refused string
		fails   bool
	}{
		"nothing wrong":     {func(client.Object) error { return nil }, "", false},
		"an invalid object": {invalid, "the API server refuses v1.Service semisync-", false},
		"a quota": {func(o client.Object) error {
			return apierrors.NewForbidden(schema.GroupResource{}, o.GetName(), errors.New("exceeded quota"))
		}, "", false},
		"one that is there":     {func(o client.Object) error { return apierrors.NewAlreadyExists(schema.GroupResource{}, o.GetName()) }, "", false},
		"a kind that is absent": {func(client.Object) error { return &meta.NoKindMatchError{} }, "", false},
		"no answer":             {func(client.Object) error { return errors.New("no answer") }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			run := s.run(t)
			run.Others = func(context.Context) (int, error) { return 0, nil }
			w := &trying{world: s.world, says: c.says}
			run.Cluster = w
			planned(t, run)
			out, err := accept(t.Context(), run)
			if (err != nil) != c.fails || out.Terminal != (c.refused != "") || !strings.Contains(out.Message, c.refused) {
				t.Errorf("%+v, %v", out, err)
			}
			if out.Terminal && (out.Reason != v1alpha1.ReasonSpecRefused || run.Status.StartTime != nil) {
				t.Errorf("%+v, started at %v", out, run.Status.StartTime)
			}
			if w.tries == 0 || len(s.objects) > 0 {
				t.Errorf("%d objects were tried and %d made", w.tries, len(s.objects))
			}
		})
	}
}

// TestARefusedPlanLeavesNothing, the run's Lease neither, though what a run that did not pass has deployed is kept.
func TestARefusedPlanLeavesNothing(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	x.Spec.Keep = v1alpha1.KeepOnFailure
	w := newWorld(t, x)
	refusing := &trying{world: w, says: func(o client.Object) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, o.GetName(), nil)
	}}
	found := play(t, w, refusing, x)
	c := meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != v1alpha1.ReasonSpecRefused || !isTrue(found.Status.Conditions, v1alpha1.ConditionComplete) {
		t.Fatalf("it ends %s, %+v", found.Status.Verdict, c)
	}
	if len(w.objects) > 0 {
		t.Errorf("%d objects stay: %v", len(w.objects), w.log)
	}
}

func TestARunInTheQueueIsTriedOnce(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Others = func(context.Context) (int, error) { return 1, nil }
	w := &trying{world: s.world, says: func(client.Object) error { return nil }}
	run.Cluster = w
	planned(t, run)
	var first int
	for pass := range 3 {
		out, err := accept(t.Context(), run)
		if err != nil || out.Reason != "Queued" {
			t.Fatalf("%+v, %v", out, err)
		}
		markPending(run, v1alpha1.ConditionAccepted, out)
		if pass == 0 {
			first = w.tries
		}
	}
	if first == 0 || w.tries != first {
		t.Errorf("%d tries in the first pass, %d in three", first, w.tries)
	}
}

// planned gives a run its plan.
func planned(t *testing.T, run *Run) {
	t.Helper()
	var err error
	if run.Plan, err = plan.Build(run.Input); err != nil {
		t.Fatal(err)
	}
}
