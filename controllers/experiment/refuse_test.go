package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
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
		"a webhook that is down": {func(client.Object) error {
			return apierrors.NewInternalError(errors.New(`failed calling webhook "down.example.com": connection refused`))
		}, "", false},
		"no answer": {func(client.Object) error { return errors.New("no answer") }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			run := s.run(t)
			run.Others = others(0)
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
	run.Others = others(1)
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

// TestAWebhookThatIsDownEndsARun, after it was given time, and meanwhile the run is not in line.
func TestAWebhookThatIsDownEndsARun(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	down := &trying{world: w, says: func(client.Object) error {
		return apierrors.NewInternalError(errors.New(`failed calling webhook "down.example.com": connection refused`))
	}}
	store := storeOf(t, w, down, x)
	once(t, store, w, down, client.ObjectKeyFromObject(x))
	c := meta.FindStatusCondition(store.held.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != "Refused" || !strings.Contains(c.Message, "down.example.com") || InLine(store.held) {
		t.Fatalf("it waits with %+v", c)
	}
	began := w.now
	found := playOn(t, store, w, down, client.ObjectKeyFromObject(x), func() {})
	c = meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || c.Reason != v1alpha1.ReasonObjectRefused || w.now.Sub(began) < diagnose.RefusedAfter {
		t.Errorf("after %s it ends with %+v", w.now.Sub(began), c)
	}
}

// TestTheQueueNamesThoseAhead that are in the same namespace, and asks the API server for nothing.
func TestTheQueueNamesThoseAhead(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	refusing := &trying{world: w, says: func(client.Object) error { return nil }}
	store := storeOf(t, w, refusing, x)
	key := client.ObjectKeyFromObject(x)
	ahead := []types.NamespacedName{{Namespace: x.Namespace, Name: "b"}, {Namespace: "secret", Name: "c"}, {Namespace: x.Namespace, Name: "a"}}
	r := &Reconciler{
		Client: store, Cluster: refusing, Processes: w, Events: &events.FakeRecorder{}, Now: func() time.Time { return w.now }, Config: w.config(),
		Identity: "this operator", Servers: servers,
		Turns: func(context.Context, *v1alpha1.ReplicationExperiment, bool) ([]types.NamespacedName, error) {
			return ahead, nil
		},
	}
	var writes, tries int
	for pass := range 3 {
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil || result.RequeueAfter != 6*time.Second || *result.Priority != 0 {
			t.Fatalf("%+v, %v", result, err)
		}
		if pass == 0 {
			writes, tries = w.writes, refusing.tries
		}
		w.now = w.now.Add(time.Hour)
	}
	c := meta.FindStatusCondition(store.held.Status.Conditions, v1alpha1.ConditionAccepted)
	if c == nil || !strings.HasPrefix(c.Message, "waiting for experiments a, b and 1 more: ") {
		t.Errorf("it says %+v", c)
	}
	if w.writes != writes || refusing.tries != tries {
		t.Errorf("%d writes and %d tries while it waits", w.writes-writes, refusing.tries-tries)
	}
	ahead = nil
	for store.held.Status.StartTime == nil {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
	}
	if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || *result.Priority != 1 {
		t.Errorf("under way: %+v, %v", result, err)
	}
}
