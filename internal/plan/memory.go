package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"replab.dev/internal/kube"
)

// MemoryShort says why the memory that the servers of a plan may use is less than they need, "" where it is not. The rules of the CRD
// find the commonest cases of it before; sizes can be written in more ways than they know.
func MemoryShort(in Input, p Plan) string {
	needs := Params(in).Server.Memory(in.Experiment.Spec.Topology.Parameters)
	for _, o := range p.Deploy {
		set, ok := o.(*appsv1.StatefulSet)
		if !ok || set.Labels[kube.LabelComponent] != kube.ComponentNode {
			continue
		}
		limit := set.Spec.Template.Spec.Containers[0].Resources.Limits.Memory()
		if !limit.IsZero() && limit.Value() < needs.Bytes {
			return fmt.Sprintf("the servers may use %s of memory, and need %d MiB with their %[3]s: raise topology.resources.limits.memory or pods.nodes.resources.limits.memory, or lower %[3]s in topology.parameters",
				limit, needs.Bytes>>20, needs.Setting)
		}
	}
	return ""
}
