package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
)

// hired is a scene in which another operator runs k6.
type hired struct {
	scene
	answer  error // to questions for its object
	begun   bool  // the load
	stage   string
	age     time.Duration
	gone    bool
	jobs    map[string]batchv1.JobConditionType // by name; "" while one runs
	created []string
}

func (h *hired) Get(_ context.Context, o client.Object) (bool, error) {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		if h.answer != nil || h.gone {
			return false, h.answer
		}
		o.SetUID("run")
		o.SetCreationTimestamp(metav1.NewTime(h.now.Add(-h.age)))
		return true, unstructured.SetNestedField(o.Object, h.stage, "status", "stage")
	case *batchv1.Job:
		how, there := h.jobs[o.Name]
		o.OwnerReferences = []metav1.OwnerReference{{UID: "run", Controller: ptr.To(true)}}
		o.CreationTimestamp = metav1.NewTime(h.now)
		if how != "" {
			o.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, Message: "BackoffLimitExceeded"}}
		}
		return there, nil
	}
	return false, errors.New("nobody asks for it")
}

func (h *hired) Create(_ context.Context, _ *v1alpha1.ReplicationExperiment, o client.Object) error {
	h.created = append(h.created, o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetName())
	return nil
}

func (h *hired) Recorder(context.Context, string) (wire.RecorderState, error) {
	if h.begun {
		return wire.RecorderState{LoadStartedAt: &metav1.MicroTime{Time: h.now}}, nil
	}
	return wire.RecorderState{}, nil
}

func (h *hired) run(t *testing.T) *Run {
	t.Helper()
	run := h.scene.run(t)
	run.Spec.Load.Runner, run.Spec.Load.Parallelism = v1alpha1.RunnerK6Operator, 2
	run.Others = others(1)
	run.Cluster, run.Snapshot.cluster, run.Snapshot.processes = h, h, h
	var err error
	if run.Plan, err = plan.Build(run.Input); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAnOperatorThatIsToRunK6IsAskedForAtOnce(t *testing.T) {
	askedForAtOnce(t, []string{"docs/how-to/k6-operator.md", "use runner Job"}, []string{"rbac.k6Operator", "config/k6operator", "use runner Job"}, func(answer error) (*Run, *scene) {
		h := &hired{answer: answer, gone: true}
		return h.run(t), &h.scene
	})
}

// TestALoadThatAnotherOperatorLosesEndsTheRun, before it has begun and while it runs.
func TestALoadThatAnotherOperatorLosesEndsTheRun(t *testing.T) {
	both := map[string]batchv1.JobConditionType{"semisync-load-1": "", "semisync-load-2": ""}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "k6.io", Resource: "testruns"}, "x-load", nil)
	for name, c := range map[string]struct {
		hired          hired
		before, during string // what is said, "" where it goes on
	}{
		"running":             {hired{stage: "started", jobs: both}, "", ""},
		"one has failed":      {hired{stage: "finished", jobs: map[string]batchv1.JobConditionType{"semisync-load-1": batchv1.JobFailed, "semisync-load-2": batchv1.JobComplete}}, "Job semisync-load-1 failed: BackoffLimitExceeded", "Job semisync-load-1 failed: BackoffLimitExceeded"},
		"one is gone":         {hired{stage: "started", jobs: map[string]batchv1.JobConditionType{"semisync-load-1": ""}}, "there is no Job semisync-load-2: it was deleted", "there is no Job semisync-load-2: it was deleted"},
		"nobody runs it":      {hired{age: 2 * time.Minute}, "see whether it runs", "see whether it runs"},
		"the TestRun is gone": {hired{gone: true, jobs: both}, "", "TestRun semisync-load was deleted while its load ran"},
		"the kind is gone":    {hired{answer: &meta.NoKindMatchError{}}, "docs/how-to/k6-operator.md", "docs/how-to/k6-operator.md"},
		"no right to it":      {hired{answer: forbidden}, "rbac.k6Operator", "rbac.k6Operator"},
	} {
		for when, says := range map[string]string{"before": c.before, "during": c.during} {
			h := c.hired
			run := h.run(t)
			run.Status.StartTime = &metav1.Time{Time: h.now}
			var out Outcome
			var err error
			if h.begun = when == "during"; h.begun {
				_, out, err = watchLoad(t.Context(), run)
			} else {
				_, out, err = makeLoad(t.Context(), run, wire.RecorderState{})
			}
			if err != nil || out.Terminal != (says != "") || !strings.Contains(out.Message, says) {
				t.Errorf("%s, %s the load: %+v, %v; want it to say %q", name, when, out, err, says)
			}
			if made := len(h.created) == 1 && h.created[0] == "TestRun semisync-load"; made != (h.gone && !h.begun) {
				t.Errorf("%s, %s the load: %q were made", name, when, h.created)
			}
		}
	}
}

// TestALoadIsCompleteWithItsLastJob, whatever the TestRun's status says.
func TestALoadIsCompleteWithItsLastJob(t *testing.T) {
	for _, last := range []batchv1.JobConditionType{"", batchv1.JobComplete} {
		h := &hired{stage: "created", begun: true, jobs: map[string]batchv1.JobConditionType{"semisync-load-1": batchv1.JobComplete, "semisync-load-2": last}}
		if complete, out, err := watchLoad(t.Context(), h.run(t)); err != nil || out.Terminal || complete != (last != "") {
			t.Errorf("the last one is %q: complete %t, %+v, %v", last, complete, out, err)
		}
	}
}
