package experiment

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/kube"
)

// jobState is how a Job stands.
type jobState int

const (
	jobAbsent jobState = iota
	jobRunning
	jobComplete
	jobFailed
)

func jobOf(ctx context.Context, run *Run, planned *batchv1.Job) (jobState, *batchv1.Job, error) {
	found, err := run.Snapshot.Object(ctx, planned)
	job, ok := found.(*batchv1.Job)
	if err != nil || !ok {
		return jobAbsent, nil, err
	}
	switch ended, _ := kube.JobEnded(job); ended {
	case batchv1.JobComplete:
		return jobComplete, job, nil
	case batchv1.JobFailed:
		return jobFailed, job, nil
	}
	return jobRunning, job, nil
}

// lastWords of a Job that failed: why, and the end of its newest pod's log.
func lastWords(ctx context.Context, run *Run, job *batchv1.Job) string {
	_, why := kube.JobEnded(job)
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return joinWords(why, "its pods cannot be read: "+err.Error())
	}
	return podsLastWords(ctx, run, why, kube.NewestPod(pods, job.Name))
}

// podsLastWords are why something failed, and the end of the log of its pod.
func podsLastWords(ctx context.Context, run *Run, why string, pod *corev1.Pod) string {
	if pod == nil {
		return joinWords(why, "its pod is gone")
	}
	return joinWords(why, "last log lines of pod "+pod.Name+":\n"+run.Cluster.LogTail(ctx, pod, pod.Spec.Containers[0].Name, false))
}

func joinWords(why, more string) string {
	if why == "" {
		return more
	}
	return why + "; " + more
}
