package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// loadIP is the address of a k6 pod, by its Job's name.
func loadIP(job string) string { return "10.0.1." + job[strings.LastIndex(job, "-")+1:] }

func (w *world) nodePods() []corev1.Pod {
	var pods []corev1.Pod
	if _, ok := w.objects["*v1.StatefulSet/"+w.x+"-db"]; !ok {
		return nil
	}
	for i := range 3 {
		pods = append(pods, readyPod(fmt.Sprintf("%s-db-%d", w.x, i), kube.ComponentNode))
		pods[i].Status.PodIP = nodeIP(i, false)
		if i == 0 && !w.deletedAt.IsZero() {
			if w.now.Sub(w.deletedAt) > 2*time.Second {
				pods[0].UID += "-next"
				pods[0].Status.PodIP = nodeIP(0, true)
				pods[0].Status.StartTime = ptr.To(metav1.NewTime(w.deletedAt.Add(2*time.Second - w.undelayed)))
			} else {
				pods[0].DeletionTimestamp = ptr.To(metav1.NewTime(w.deletedAt))
			}
		}
	}
	return pods
}

func (w *world) Pods(context.Context, *v1alpha1.ReplicationExperiment) ([]corev1.Pod, error) {
	pods := w.nodePods()
	if len(pods) == 0 {
		return nil, nil
	}
	if w.alter != nil {
		w.alter(&pods[1])
	}
	if w.relabelled {
		pods = slices.Delete(pods, 1, 2)
	}
	for _, c := range []string{"director", "proxy", "social", "recorder"} {
		pods = append(pods, readyPod(w.x+"-"+c+"-5d8f-x2k9p", c)) // as a Deployment names them
	}
	return append(pods, w.loadPods()...), nil
}

// loadPods share 1000 writes.
func (w *world) loadPods() []corev1.Pod {
	var jobs []string
	for i := range 10 {
		if load := fmt.Sprintf("%s-load-%d", w.x, i); w.objects["*v1.Job/"+load] != nil {
			jobs = append(jobs, load)
		}
	}
	var pods []corev1.Pod
	for _, load := range jobs {
		p := readyPod(load, "load")
		p.Labels[batchv1.JobNameLabel] = load
		p.Status.PodIP = loadIP(load)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Message: fmt.Sprintf(`{"v":1,"requests":%d,"failed":0,"registered":%d,"registeredKnown":true,"dropped":0}`, 3000/len(jobs), 1000/len(jobs)),
		}}}}
		pods = append(pods, p)
	}
	return pods
}

func readyPod(name, component string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name), Labels: map[string]string{kube.LabelComponent: component}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: component}}},
		Status:     corev1.PodStatus{PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}
