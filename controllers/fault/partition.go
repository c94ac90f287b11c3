package fault

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// sides are the components whose pods a partition cuts off. Instruments are on no side: what a fault does must be seen.
var sides = map[v1alpha1.PartitionFrom][]string{
	v1alpha1.PartitionPeers:    {kube.ComponentNode},
	v1alpha1.PartitionClients:  {kube.ComponentProxy, kube.ComponentSocial},
	v1alpha1.PartitionEveryone: {kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial},
}

// cutOff returns the addresses that a partition of the target's pod drops.
func (s *Scene) cutOff(t target) []string {
	var addresses []string
	for _, p := range s.Pods {
		if slices.Contains(sides[t.fault.PartitionFrom], p.Labels[kube.LabelComponent]) && p.Name != t.pod.Name && p.Status.PodIP != "" {
			addresses = append(addresses, p.Status.PodIP)
		}
	}
	return addresses
}
