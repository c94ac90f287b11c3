// Package job runs each k6 pod by a Job of its own.
package job

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/wire"
)

// Runner implements load.Runner.
type Runner struct{}

// Kind implements load.Runner.
func (Runner) Kind() kube.Object { return &batchv1.Job{} }

// Objects implements load.Runner: a Job for each k6 pod, which does not try again. The Jobs themselves are watched.
func (Runner) Objects(p load.Params) (objects, watched []kube.Object) {
	jobs := make([]kube.Object, 0, p.Parallelism)
	for i := range p.Parallelism {
		meta := *p.Meta.DeepCopy()
		meta.Name += "-" + strconv.Itoa(int(i))
		pod := *p.Pod.DeepCopy()
		pod.Spec.Containers[0].Command = command(p.Script, i, p.Parallelism)
		jobs = append(jobs, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0), ActiveDeadlineSeconds: ptr.To(p.DeadlineSeconds), Template: pod,
		}})
	}
	return jobs, jobs
}

// command has k6 run share i of n.
func command(script string, i, n int32) []string {
	argv := []string{"k6", "run", "--quiet", "--no-usage-report", "--paused", "--address", ":" + strconv.Itoa(wire.PortK6)}
	if n > 1 {
		argv = append(argv, "--execution-segment", fmt.Sprintf("%d/%d:%d/%d", i, n, i+1, n), "--execution-segment-sequence", sequence(n))
	}
	return append(argv, script)
}

// sequence is "0,1/n,2/n,...,1".
func sequence(n int32) string {
	s := "0"
	for i := int32(1); i < n; i++ {
		s += fmt.Sprintf(",%d/%d", i, n)
	}
	return s + ",1"
}

// Assess implements load.Runner.
func (Runner) Assess(seen load.Seen) []load.Share {
	shares := make([]load.Share, len(seen.Watched))
	for i, planned := range seen.Watched {
		shares[i] = load.Share{Name: "Job " + planned.GetName(), Pod: kube.NewestPod(seen.Pods, planned.GetName())}
		if job, ok := seen.Found[i].(*batchv1.Job); ok {
			shares[i].State, shares[i].Why = load.OfJob(job)
		}
	}
	return shares
}
