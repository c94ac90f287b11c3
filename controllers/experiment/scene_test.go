package experiment

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// scene is what a step sees of the cluster at one moment.
type scene struct {
	*world
	pods     []corev1.Pod
	claims   []corev1.PersistentVolumeClaim
	event    *corev1.Event // the newest about whatever is asked for
	recorder error         // why the recorder does not answer
}

func (s *scene) Pods(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error) {
	return s.pods, nil
}

func (s *scene) Claims(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.PersistentVolumeClaim, error) {
	return s.claims, nil
}

func (s *scene) LastEvent(context.Context, client.Object) (*corev1.Event, error) { return s.event, nil }

func (s *scene) LogTail(_ context.Context, pod *corev1.Pod, container string, _ bool) string {
	return "the log of " + container + " in " + pod.Name
}

func (s *scene) Recorder(context.Context, string) (wire.RecorderState, error) {
	return wire.RecorderState{}, s.recorder
}

func (s *scene) run(t *testing.T) *Run {
	x := experiment.Parse(t, []byte(semisync))
	s.world = newWorld(t, x)
	input := plan.Input{Experiment: x, Servers: servers}
	return &Run{
		ReplicationExperiment: x, Input: input, Plan: plan.Plan{Seed: &batchv1.Job{}}, Cluster: s, Processes: s, Now: func() time.Time { return s.now },
		Snapshot: &Snapshot{x: x, input: &input, cluster: s, processes: s, now: func() time.Time { return s.now }},
	}
}

// others are so many experiments that are ahead.
func others(n int) func(context.Context, bool) ([]types.NamespacedName, error) {
	return func(context.Context, bool) ([]types.NamespacedName, error) {
		return make([]types.NamespacedName, n), nil
	}
}

// judged is whether an experiment is accepted by the rules, and then by its steps.
func judged(t *testing.T, run *Run) (Outcome, error) {
	t.Helper()
	if out := wrongSpec(run.ReplicationExperiment, run.Input.Servers); out.Terminal {
		return out, nil
	}
	return accept(t.Context(), run)
}

// ago is a time before the world's now.
func ago(d time.Duration) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(-d))
}

func event(kind, reason, message string) *corev1.Event {
	return &corev1.Event{Type: kind, Reason: reason, Message: message}
}

func pod(name, component string, change ...func(*corev1.Pod)) corev1.Pod {
	p := readyPod(name, component)
	p.Spec = corev1.PodSpec{NodeName: "worker", Containers: []corev1.Container{{Name: "main"}}}
	p.CreationTimestamp = ago(10 * time.Minute)
	p.Status.Conditions = nil
	for _, c := range change {
		c(&p)
	}
	return p
}

func is(t corev1.PodConditionType, status corev1.ConditionStatus, since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: status, LastTransitionTime: ago(since)})
	}
}

func waits(reason string, restarts int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", RestartCount: restarts, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}}
	}
}

func runs(since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(since)}},
		}}
	}
}

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message, LastTransitionTime: ago(61 * time.Second),
		}}
	}
}

func evicted(p *corev1.Pod) {
	p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: ephemeral-storage."
}

func aged(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = ago(d) }
}

func pendingClaim(age time.Duration) corev1.PersistentVolumeClaim {
	c := corev1.PersistentVolumeClaim{}
	c.Name, c.CreationTimestamp = "data-x-db-0", ago(age)
	c.Spec.StorageClassName, c.Status.Phase = ptr.To("silent"), corev1.ClaimPending
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	return c
}

var (
	provisioning = event("Normal", "ExternalProvisioning", "Waiting for a volume to be created by none.example")
	noMount      = event("Warning", "FailedMount", `secret "x-credentials" not found`)
	pulling      = event("Normal", "Pulling", "Pulling image")
	stuckPod     = pod("x-db-0", kube.ComponentNode, is(corev1.PodScheduled, "True", 101*time.Second), waits("ContainerCreating", 0))
)
