package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
)

// essenceMost is how many bytes of a pod are kept. A pod of an experiment has about 4 KiB of what is read, and k6's summary.
const essenceMost = 64 << 10

// essence is what is read of a pod. Of one that still has more than essenceMost nothing but its name and its own labels is left.
func essence(pod *corev1.Pod) corev1.Pod {
	out := corev1.Pod{ObjectMeta: metadata(&pod.ObjectMeta), Status: pod.Status}
	out.Spec = corev1.PodSpec{
		NodeName: pod.Spec.NodeName, InitContainers: images(pod.Spec.InitContainers), Containers: images(pod.Spec.Containers),
	}
	if out.Size() > essenceMost {
		out.Spec, out.Status = corev1.PodSpec{NodeName: pod.Spec.NodeName, Containers: []corev1.Container{{}}}, corev1.PodStatus{}
		maps.DeleteFunc(out.Labels, func(key, _ string) bool { return !slices.Contains(own, key) })
	}
	return out
}

// own are the labels by which the experiment's objects select pods.
var own = []string{kube.LabelManagedBy, kube.LabelExperiment, kube.LabelComponent}

func images(containers []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for _, c := range containers {
		out = append(out, corev1.Container{Name: c.Name, Image: c.Image})
	}
	return out
}

// metadata is what is read of an object.
func metadata(o *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Labels: o.Labels, OwnerReferences: o.OwnerReferences,
		CreationTimestamp: o.CreationTimestamp, DeletionTimestamp: o.DeletionTimestamp,
	}
}
