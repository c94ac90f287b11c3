package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// sides are the components whose pods a partition cuts off. Instruments are on no side: what a fault does must be seen.
var sides = map[v1alpha1.PartitionFrom][]string{
	v1alpha1.PartitionPeers:    {kube.ComponentNode},
	v1alpha1.PartitionClients:  {kube.ComponentProxy, kube.ComponentSocial},
	v1alpha1.PartitionEveryone: {kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial},
}

// cutOff returns the addresses that a partition of the pod drops.
func cutOff(ctx context.Context, run *Run, f v1alpha1.Fault, target *corev1.Pod) ([]string, error) {
	pods, err := run.Cluster.Pods(ctx, run.ReplicationExperiment)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, p := range pods {
		for _, component := range sides[f.PartitionFrom] {
			if p.Labels[kube.LabelComponent] == component && p.Name != target.Name && p.Status.PodIP != "" {
				addresses = append(addresses, p.Status.PodIP)
			}
		}
	}
	return addresses, nil
}

func keyOf(o client.Object) types.NamespacedName { return client.ObjectKeyFromObject(o) }
