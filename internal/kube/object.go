package kube

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Object is a Kubernetes object of any kind. Every client takes it, and it brings no client's libraries with it.
type Object interface {
	metav1.Object
	runtime.Object
}

// ForeignKind is the kind of an object that another operator carries out.
type ForeignKind struct {
	schema.GroupVersionKind
	// NotServed is the advice if the cluster lacks the kind, Forbidden if the operator may not use it.
	NotServed, Forbidden string
}

// BinVolume is where BinaryContainer puts the binary.
func BinVolume() corev1.Volume { return EmptyDir("bin", corev1.StorageMediumDefault, "200Mi") }

// BinaryContainer is an init container that brings replab's binary to containers whose images do not have it.
func BinaryContainer(images v1alpha1.ImagesStatus) corev1.Container {
	return corev1.Container{
		Name: "copy", Image: images.Replab, ImagePullPolicy: corev1.PullPolicy(images.PullPolicy),
		Command:         []string{"/replab"}, // whatever the image would run
		Args:            []string{"copy", "--to", wire.BinDir},
		SecurityContext: ContainerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{MountWritable(BinVolume().Name, wire.BinDir)},
		Resources:       Requests("10m", "16Mi", "64Mi"),
	}
}

// Measured adds a container that tells what the others of a pod use. It begins before them and ends after them.
func Measured(pod *corev1.PodSpec, images v1alpha1.ImagesStatus) {
	pod.ShareProcessNamespace = ptr.To(true)
	pod.InitContainers = append(pod.InitContainers, corev1.Container{
		Name: "measure", Image: images.Replab, ImagePullPolicy: corev1.PullPolicy(images.PullPolicy),
		Args:            []string{"measure"},
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		Ports:           []corev1.ContainerPort{{Name: "measure", ContainerPort: wire.PortMeasure}},
		SecurityContext: ContainerSecurity(),
		Resources:       Requests("5m", "16Mi", "64Mi"),
	})
}

// JobEnded returns the condition JobComplete or JobFailed and its message, "" before the end.
func JobEnded(job *batchv1.Job) (ended batchv1.JobConditionType, message string) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type, c.Message
		}
	}
	return "", ""
}

// NewestPod of a Job among pods, nil without one.
func NewestPod(pods []corev1.Pod, job string) *corev1.Pod {
	var newest *corev1.Pod
	for i := range pods {
		if p := &pods[i]; p.Labels[batchv1.JobNameLabel] == job && (newest == nil || newest.CreationTimestamp.Before(&p.CreationTimestamp)) {
			newest = p
		}
	}
	return newest
}

// FirstRan returns when the pod's first container began (node clock, whole seconds), nil before that.
func FirstRan(p corev1.Pod) *time.Time {
	var first *time.Time
	for _, c := range p.Status.ContainerStatuses {
		for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			var at time.Time
			switch {
			case state.Running != nil:
				at = state.Running.StartedAt.Time
			case state.Terminated != nil:
				at = state.Terminated.StartedAt.Time
			default:
				continue
			}
			if first == nil || at.Before(*first) {
				first = &at
			}
		}
	}
	return first
}
