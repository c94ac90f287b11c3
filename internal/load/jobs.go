package load

import (
	batchv1 "k8s.io/api/batch/v1"

	"replab.dev/internal/kube"
)

// OfJob is how the share of a k6 pod stands that a Job has made, and why it failed.
func OfJob(job *batchv1.Job) (s State, why string) {
	switch ended, message := kube.JobEnded(job); ended {
	case batchv1.JobComplete:
		return Complete, ""
	case batchv1.JobFailed:
		return Failed, message
	}
	return Running, ""
}
