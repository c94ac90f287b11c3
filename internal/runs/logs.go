package runs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/kube"
)

// logMost bounds what is fetched of one container, in bytes.
const logMost = 32 << 20

// Logs are what the containers of an experiment's pods have written, by the names of pod and container; of a container that was started
// again, what it wrote before has a name of its own. One that has written nothing, or of which nobody knows any more, is not among them.
func (c Cluster) Logs(ctx context.Context, experiment client.ObjectKey) (map[string][]byte, error) {
	var pods corev1.PodList
	err := c.List(ctx, &pods, client.InNamespace(experiment.Namespace), client.MatchingLabels{kube.LabelExperiment: experiment.Name})
	if err != nil {
		return nil, fmt.Errorf("list the pods of experiment %s: %w", experiment.Name, err)
	}
	logs := map[string][]byte{}
	for _, pod := range pods.Items {
		for _, s := range pod.Status.ContainerStatuses {
			for _, previous := range []bool{false, true} {
				if previous && s.RestartCount == 0 {
					continue
				}
				most := int64(logMost)
				text, err := c.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
					Container: s.Name, Previous: previous, Timestamps: true, LimitBytes: &most,
				}).DoRaw(ctx)
				if err != nil || len(text) == 0 {
					continue // evidence beside the other
				}
				name := pod.Name + "-" + s.Name
				if previous {
					name += "-before"
				}
				logs[name] = text
			}
		}
	}
	return logs, nil
}
