package plan

import (
	"fmt"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology/registry"
)

// MemoryShort says why the memory that the servers of a plan may use is less than they need, "" where it is not. The rules of the CRD
// find the commonest cases of it before; sizes can be written in more ways than they know.
func MemoryShort(in Input, p Plan) string {
	spec := in.Experiment.Spec.Topology
	needs := Params(in).Server.Memory(spec.Parameters)
	for _, limit := range serverMemory(in, p) {
		if !limit.IsZero() && limit.Value() < needs.Bytes {
			return fmt.Sprintf("the servers may use %s of memory, and need %d MiB with their %[3]s: raise topology.resources.limits.memory or pods.nodes.resources.limits.memory, or lower %[3]s in topology.parameters",
				limit, needs.Bytes>>20, needs.Setting)
		}
	}
	return ""
}

// What a volume holds beside the log, in bytes: the files of an empty server, and what each user of the data set takes.
const (
	emptyServer = 128 << 20
	perUser     = 1500
)

// VolumeShort says why the nodes' volumes are smaller than what their servers keep on them, "" where they are not. The rule of the CRD knows the
// size of the log that servers have by default.
func VolumeShort(in Input) string {
	spec := in.Experiment.Spec
	size, log := spec.Topology.Storage.Size, Params(in).Server.LogSize(spec.Topology.Parameters)
	needs := min(log.Bytes, math.MaxInt64>>1) + emptyServer + perUser*spec.Dataset.Users
	if size.IsZero() || size.Value() >= needs {
		return ""
	}
	return fmt.Sprintf("the nodes' volumes have %s, and their servers need %d MiB with their %[3]s and the data set: raise topology.storage.size, or lower %[3]s in topology.parameters or dataset.users",
		size.String(), needs>>20, log.Setting)
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
