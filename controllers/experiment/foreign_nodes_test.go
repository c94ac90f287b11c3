package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
)

// abroad is a scene in which another operator is to make the nodes.
type abroad struct {
	scene
	answer error // to questions for its object
	apply  error // what comes of applying it
	status string
	made   bool  // the StatefulSet
	stays  error // why the nodes cannot be removed
}

func (a *abroad) Remove(context.Context, *v1alpha1.ReplicationExperiment) (int, error) {
	return 0, a.stays
}

func (a *abroad) Apply(context.Context, *v1alpha1.ReplicationExperiment, client.Object) error {
	return a.apply
}

func (a *abroad) Get(_ context.Context, o client.Object) (bool, error) {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		if a.answer == nil {
			_ = unstructured.SetNestedField(o.Object, a.status, "status", "PostgresClusterStatus")
		}
		return a.answer == nil, a.answer
	case *appsv1.StatefulSet:
		return a.made, nil
	}
	return false, errors.New("nobody asks for it")
}

func (a *abroad) run(t *testing.T) *Run {
	t.Helper()
	run := a.scene.run(t)
	run.Spec.Topology = v1alpha1.TopologySpec{
		Type: v1alpha1.TopologyPatroni, Engine: v1alpha1.EnginePostgreSQL, Nodes: 2,
		Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando, SynchronousMode: "On", SynchronousNodeCount: 1, MaximumLagOnFailoverBytes: 1},
		Storage: v1alpha1.StorageSpec{Medium: v1alpha1.MediumVolumeClaim},
	}
	run.Spec.Faults, run.Spec.Goals = nil, nil
	run.Input.Servers = engine.Lookup[engine.Server]{string(v1alpha1.EnginePostgreSQL): postgres.Server{}}
	run.Others = others(1)
	run.Cluster, run.Snapshot.cluster = a, a
	return run
}

func TestAnOperatorThatIsToMakeTheNodesIsAskedForAtOnce(t *testing.T) {
	askedForAtOnce(t, []string{"docs/how-to/zalando.md", "use provider StatefulSet"}, []string{"rbac.zalandoOperator", "use provider StatefulSet"}, func(answer error) (*Run, *scene) {
		a := &abroad{answer: answer}
		return a.run(t), &a.scene
	})
}

// TestAnOperatorThatIsGoneWhenItsObjectIsMadeEndsTheRun: it was there a moment before.
func TestAnOperatorThatIsGoneWhenItsObjectIsMadeEndsTheRun(t *testing.T) {
	a := &abroad{apply: &meta.NoKindMatchError{}}
	run := a.run(t)
	run.Plan.Deploy = []kube.Object{&unstructured.Unstructured{}}
	if out, err := deploy(t.Context(), run); err != nil || out.Reason != v1alpha1.ReasonNotFound || !strings.Contains(out.Message, "docs/how-to/zalando.md") {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestPodsThatTheNodesCannotBeAreRefusedBeforeTheRun, and end none that has begun.
func TestPodsThatTheNodesCannotBeAreRefusedBeforeTheRun(t *testing.T) {
	run := (&abroad{}).run(t)
	run.Spec.Pods = &v1alpha1.PodsSpec{All: &v1alpha1.PodSettings{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{}}}}
	if out, err := judged(t, run); err != nil || !out.Terminal || out.Reason != v1alpha1.ReasonSpecRefused || !strings.Contains(out.Message, "pods.all") {
		t.Errorf("accepted: %+v, %v", out, err)
	}
	run.Status.StartTime = &metav1.Time{Time: run.Now()}
	if out, err := accept(t.Context(), run); err != nil || !out.Done {
		t.Errorf("begun: %+v, %v", out, err)
	}
}

// TestWhatAnotherOperatorDoesNotDoEndsTheRun with its words.
func TestWhatAnotherOperatorDoesNotDoEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		abroad abroad
		since  time.Duration
		says   string // "" where it goes on
	}{
		"just begun":             {abroad{}, time.Second, ""},
		"nothing for a while":    {abroad{}, time.Minute, "ignored postgresql"},
		"on its way":             {abroad{status: "Creating"}, time.Minute, ""},
		"given up":               {abroad{status: "CreateFailed", scene: scene{event: &corev1.Event{Message: "no quota"}}}, time.Second, "no quota"},
		"pods that nobody knows": {abroad{status: "Creating", made: true}, time.Second, "no container"},
		"the kind is gone":       {abroad{answer: &meta.NoKindMatchError{}}, time.Second, "docs/how-to/zalando.md"},
		"not allowed any more":   {abroad{answer: apierrors.NewForbidden(schema.GroupResource{Resource: "postgresqls"}, "x-db", nil)}, time.Second, "rbac.zalandoOperator"},
	} {
		run := c.abroad.run(t)
		if name == "given up" {
			c.abroad.event = &corev1.Event{Message: "no quota"}
		}
		out, err := nodesHopeless(t.Context(), run, c.since)
		if err != nil || out.Terminal != (c.says != "") || !strings.Contains(out.Message, c.says) {
			t.Errorf("%s: %+v, %v; want it to say %q", name, out, err, c.says)
		}
	}
	s := &scene{}
	if out, err := nodesHopeless(t.Context(), s.run(t), time.Hour); err != nil || out.Terminal {
		t.Errorf("an experiment whose nodes are this operator's ends with %+v, %v", out, err)
	}
}

// TestNodesThatMayNotBeRemovedHoldNoRunUp: it is Complete, says that they are there and what to do, and its time to live counts.
func TestNodesThatMayNotBeRemovedHoldNoRunUp(t *testing.T) {
	a := &abroad{stays: fmt.Errorf("%w: no such right", topology.ErrForbidden)}
	run := a.run(t)
	run.Spec.Keep, run.Status.Verdict, run.Spec.TTLSecondsAfterFinished = v1alpha1.KeepNever, v1alpha1.VerdictPassed, ptr.To[int64](60)
	markTrue(run, v1alpha1.ConditionJudged)
	says := func(when string) {
		t.Helper()
		c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleanedUp)
		if c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "their postgresql remain") || !strings.Contains(c.Message, "rbac.zalandoOperator") {
			t.Errorf("%s it is said of the nodes: %+v", when, c)
		}
	}
	if _, err := complete(t.Context(), run); err != nil || !isComplete(run.ReplicationExperiment) {
		t.Fatalf("%v, %+v", err, run.Status.Conditions)
	}
	says("at the end")

	r := &Reconciler{Cluster: a, Now: run.Now}
	run.Generation = 2
	if after, err := r.tidy(t.Context(), run.ReplicationExperiment); err != nil || after != 0 || run.Status.ObservedGeneration != 2 {
		t.Errorf("once it is edited: comes back after %s, %v", after, err)
	}
	says("once it is edited")
	if a.now = a.now.Add(time.Hour); len(a.deleted) > 0 {
		t.Fatalf("deleted %v before its time", a.deleted)
	}
	if _, err := r.afterwards(t.Context(), run.ReplicationExperiment); err != nil || !slices.Contains(a.deleted, run.Name) {
		t.Errorf("deleted %v when its time was over, %v", a.deleted, err)
	}

	a.stays = nil
	if _, err := r.tidy(t.Context(), run.ReplicationExperiment); err != nil || !isTrue(run.Status.Conditions, v1alpha1.ConditionCleanedUp) {
		t.Errorf("allowed again: %v, %+v", err, run.Status.Conditions)
	}
}
