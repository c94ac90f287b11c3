package kube

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// JobEnded tells how a Job ended, JobComplete or JobFailed, and what Kubernetes says of it; "" for one that has not.
func JobEnded(job *batchv1.Job) (ended batchv1.JobConditionType, message string) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type, c.Message
		}
	}
	return "", ""
}

// NewestPod of a Job among pods, nil when there is none.
func NewestPod(pods []corev1.Pod, job string) *corev1.Pod {
	var newest *corev1.Pod
	for i := range pods {
		if p := &pods[i]; p.Labels[batchv1.JobNameLabel] == job && (newest == nil || newest.CreationTimestamp.Before(&p.CreationTimestamp)) {
			newest = p
		}
	}
	return newest
}
