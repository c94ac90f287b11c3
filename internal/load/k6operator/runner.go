// Package k6operator has the k6-operator run k6, by a TestRun.
package k6operator

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/wire"
)

// What comes of a TestRun the k6-operator makes. RBAC knows no narrower right than to all of that operator's tests, so that it is generated on its own,
// and given where somebody asks for it: by the chart where rbac.k6Operator is true, or with config/k6operator.
// +kubebuilder:rbac:groups=k6.io,resources=testruns,verbs=get;create;deletecollection

// patience is how long the k6-operator may take to make a TestRun's Jobs. It handles tests one by one, and waits 30 s for a k6 without an answer.
const patience = time.Minute

// starterPatience is how long the starter pod is awaited once all k6s are ready, so that it does not run during the load.
const starterPatience = 30 * time.Second

// Where that operator's own chart and manifests have its pods, and how they label them.
const (
	usualNamespace = "k6-operator-system"
	usualLabel     = "control-plane"
	usualValue     = "controller-manager"
)

// Runner implements load.Runner and load.Foreign.
type Runner struct{}

var (
	_ load.Runner  = Runner{}
	_ load.Foreign = Runner{}
)

// Kind implements load.Runner.
func (Runner) Kind() kube.Object {
	run := &unstructured.Unstructured{}
	run.SetGroupVersionKind(kind)
	return run
}

// ForeignKind implements load.Foreign.
func (Runner) ForeignKind() kube.ForeignKind {
	return kube.ForeignKind{
		GroupVersionKind: kind,
		NotServed:        "load.runner K6Operator needs the k6-operator, and this cluster does not know its kind TestRun of k6.io/v1alpha1: install it as docs/how-to/k6-operator.md says, or use runner Job",
		Forbidden:        "replab's operator may not use testruns.k6.io: set rbac.k6Operator to true in the values of its chart, or apply config/k6operator where config/default installed it",
	}
}

// Guest implements load.Foreign.
func (Runner) Guest(is wire.ForeignOperator) (namespace string, labels map[string]string) {
	if labels = is.PodLabels; len(labels) == 0 {
		labels = map[string]string{usualLabel: usualValue}
	}
	return cmp.Or(is.Namespace, usualNamespace), labels
}

// watched are the TestRun, and the Jobs that are made of it, the starter's last.
func watched(run *unstructured.Unstructured, parallelism int32) []kube.Object {
	watched := []kube.Object{run}
	for i := range int(parallelism) {
		watched = append(watched, jobOf(run, strconv.Itoa(i+1)))
	}
	return append(watched, jobOf(run, "starter"))
}

func jobOf(run *unstructured.Unstructured, suffix string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.GetNamespace(), Name: run.GetName() + "-" + suffix}}
}

// Assess implements load.Runner. A TestRun's status does not say whether its k6s succeeded or were lost, so their Jobs are judged.
func (Runner) Assess(seen load.Seen) []load.Share {
	last := len(seen.Watched) - 1
	shares := make([]load.Share, 0, last)
	run, _ := seen.Found[0].(*unstructured.Unstructured)
	starter, _ := seen.Found[last].(*batchv1.Job)
	hold := comes(starter)
	for i, planned := range seen.Watched[1:last] {
		job, _ := seen.Found[i+1].(*batchv1.Job)
		share := load.Share{Name: "Job " + planned.GetName(), Pod: kube.NewestPod(seen.Pods, planned.GetName())}
		switch {
		case run == nil:
			share.Name, share.State = "TestRun "+seen.Watched[0].GetName(), load.Absent
		case job == nil || !metav1.IsControlledBy(job, run):
			share.State, share.Why = unmade(run, job, seen.Now)
		default:
			share.State, share.Why = made(job, seen)
			share.Hold = hold
		}
		shares = append(shares, share)
	}
	if hold && !awaited(shares, seen.Now) {
		for i := range shares {
			shares[i].Hold = false
		}
	}
	return shares
}

// awaited reports whether a starter may still come.
func awaited(shares []load.Share, now time.Time) bool {
	for _, s := range shares {
		if s.State == load.Complete || s.State == load.Failed {
			continue
		}
		if since, ready := readySince(s.Pod); !ready || now.Sub(since) <= starterPatience {
			return true
		}
	}
	return false
}

// readySince is when a pod became ready.
func readySince(pod *corev1.Pod) (since time.Time, ready bool) {
	if pod == nil {
		return since, false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	return since, false
}

// comes reports whether a starter will come or end.
func comes(starter *batchv1.Job) bool {
	if starter == nil {
		return true
	}
	state, _ := load.OfJob(starter)
	return state == load.Running
}

// made is how a Job of the TestRun stands. It has no deadline of its own, since a TestRun has no word for one.
func made(job *batchv1.Job, seen load.Seen) (state load.State, why string) {
	if state, why = load.OfJob(job); state != load.Running {
		return state, why
	}
	if began := cmp.Or(job.Status.StartTime, &job.CreationTimestamp); seen.Now.Sub(began.Time) > seen.Deadline {
		return load.Failed, fmt.Sprintf("it has not ended within %s, its stages and what they may take beside", seen.Deadline)
	}
	return load.Running, ""
}

// unmade is how a share stands of which there is no Job; another's of that name may be in its place.
func unmade(run *unstructured.Unstructured, inPlace *batchv1.Job, now time.Time) (state load.State, why string) {
	stage, _, _ := unstructured.NestedString(run.Object, "status", "stage")
	late := now.Sub(run.GetCreationTimestamp().Time) > patience
	switch {
	case stage == "error":
		return load.Hopeless, "the k6-operator refuses the TestRun: its stage is error, and that operator's log says why"
	case inPlace != nil && late:
		return load.Hopeless, "one that is not of this TestRun has its name: delete it, or name the experiment otherwise"
	case inPlace != nil: // of an earlier experiment, it may be on its way out
		return load.Running, ""
	case stage == "created" || stage == "started" || stage == "stopped" || stage == "finished":
		return load.Hopeless, "it was deleted, and the k6-operator does not make it again"
	case stage == "" && late:
		return load.Hopeless, fmt.Sprintf("the k6-operator has done nothing for TestRun %s for %s: see whether it runs and watches namespace %s", run.GetName(), patience, run.GetNamespace())
	case late:
		return load.Hopeless, fmt.Sprintf("the k6-operator has not made it for %s, and the stage of TestRun %s is %s: see that operator's log", patience, run.GetName(), stage)
	}
	return load.Running, ""
}
