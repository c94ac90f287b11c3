package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology/registry"
)

// MemoryShort says why the memory that the servers of a plan may use is less than they need, "" where it is not. The rules of the spec find that
// before, unless the limit is one of the operator's own settings of pods.
func MemoryShort(in Input, p Plan) string {
	spec := in.Experiment.Spec.Topology
	needs := Params(in).Server.Memory(spec.Parameters)
	for _, limit := range serverMemory(in, p) {
		if !limit.IsZero() && limit.Value() < needs.Bytes {
			return fmt.Sprintf("spec.topology.resources: the operator limits nodes to %s of memory, and a server needs %d MiB with its %[3]s. Set a higher limit, or lower %[3]s.",
				limit, needs.Bytes>>20, needs.Setting)
		}
	}
	return ""
}

// serverMemory is the most memory that servers of the plan may use; none, or 0, where nothing limits it. Where another operator makes the nodes, no
// object of the plan has their template.
func serverMemory(in Input, p Plan) []*resource.Quantity {
	if registry.Foreign(in.Experiment.Spec.Topology) != nil {
		asked := Params(in).NodeResources()
		return []*resource.Quantity{asked.Limits.Memory()}
	}
	var all []*resource.Quantity
	for _, o := range p.Deploy {
		if set, ok := o.(*appsv1.StatefulSet); ok && set.Labels[kube.LabelComponent] == kube.ComponentNode {
			all = append(all, set.Spec.Template.Spec.Containers[0].Resources.Limits.Memory())
		}
	}
	return all
}
