package controllers

import (
	"context"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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
	job, err := run.Snapshot.Job(ctx, planned)
	if err != nil || job == nil {
		return jobAbsent, nil, err
	}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return jobComplete, job, nil
		case batchv1.JobFailed:
			return jobFailed, job, nil
		}
	}
	return jobRunning, job, nil
}

// lastWords of a Job's newest pod: the reason why it ended and the end of its log.
func lastWords(ctx context.Context, run *Run, job *batchv1.Job) string {
	var words []string
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Message != "" {
			words = append(words, c.Message)
		}
	}
	pods, err := podsOf(ctx, run, job)
	if err != nil {
		return strings.Join(append(words, "its pods cannot be read: "+err.Error()), "; ")
	}
	if len(pods) == 0 {
		return strings.Join(append(words, "its pod is gone"), "; ")
	}
	newest := &pods[0]
	for i := range pods {
		if newest.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
			newest = &pods[i]
		}
	}
	container := newest.Spec.Containers[0].Name
	return strings.Join(append(words, "last log lines of pod "+newest.Name+":\n"+run.Cluster.LogTail(ctx, newest, container, false)), "; ")
}

func podsOf(ctx context.Context, run *Run, job *batchv1.Job) ([]corev1.Pod, error) {
	all, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return nil, err
	}
	var pods []corev1.Pod
	for _, p := range all {
		if p.Labels[batchv1.JobNameLabel] == job.Name {
			pods = append(pods, p)
		}
	}
	return pods, nil
}
