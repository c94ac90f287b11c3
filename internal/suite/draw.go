package suite

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

const (
	// firstAt is how many seconds after the start of the load the first drawn fault comes, at least. It also waits for stages: see countsFrom.
	firstAt = 12
	// spread is by how many seconds a fault may come after duringPartitionSeconds. Its partition ends 2 to 7 seconds after it came.
	spread = 10
	// beforeCutEnds is how many seconds before the end of a partition the fault in it comes, at least.
	beforeCutEnds = 2
)

// cuts are the partitionFrom values of partitions drawn around faults.
var cuts = []v1alpha1.PartitionFrom{v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone}

// draw the faults of a round for topologies of so many nodes, from a second of the load on. A trial is drawn before its suite is refused, so it may
// ask for more nodes than there are.
func draw(d *v1alpha1.DrawFaults, nodes int, from int64, random *rand.Rand) []v1alpha1.Fault {
	some := func() []int { return random.Perm(nodes)[:min(int(d.Nodes[random.IntN(len(d.Nodes))]), nodes)] }
	var faults []v1alpha1.Fault
	at := max(firstAt, from)
	for i := range d.Count {
		at += random.Int64N(4)
		cutEnds := int64(0)
		if lead := d.DuringPartitionSeconds; lead != nil {
			moment := *lead + random.Int64N(spread+1)
			hold := moment + beforeCutEnds + random.Int64N(spread/2+1)
			side := cuts[random.IntN(len(cuts))]
			faults = append(faults, alike(fmt.Sprintf("cut-%d", i+1), at, hold, v1alpha1.ActionPartition, side, some())...)
			cutEnds = at + hold
			at += moment
		}
		hold := d.MinSeconds + random.Int64N(d.MaxSeconds-d.MinSeconds+1)
		action := v1alpha1.FaultAction(d.Actions[random.IntN(len(d.Actions))])
		if action == v1alpha1.ActionKillServer {
			hold = 0 // its manager starts the server again
		}
		side := v1alpha1.PartitionFrom(d.PartitionFrom[random.IntN(len(d.PartitionFrom))])
		faults = append(faults, alike(fmt.Sprintf("draw-%d", i+1), at, hold, action, side, some())...)
		at = max(at+hold, cutEnds) + d.RestSeconds
	}
	return faults
}

// alike are faults of the same moment, one for each node.
func alike(name string, at, hold int64, action v1alpha1.FaultAction, from v1alpha1.PartitionFrom, nodes []int) []v1alpha1.Fault {
	if action != v1alpha1.ActionPartition {
		from = ""
	}
	var all []v1alpha1.Fault
	for i, node := range nodes {
		all = append(all, v1alpha1.Fault{
			Name: fmt.Sprintf("%s-%d", name, i+1), AtSeconds: at, Target: v1alpha1.TargetNode, Node: ptr.To(int32(node)),
			Action: action, PartitionFrom: from, HoldSeconds: hold,
		})
	}
	return all
}

// countsFrom is the second of the load from when on a fault counts in all variants: after the stages at the beginning that are discarded, at rest
// or without distance, and after the last rest.
func countsFrom(variants []map[string]any) (seconds int64) {
	for _, spec := range variants {
		load, _ := spec["load"].(map[string]any)
		stages, _ := load["stages"].([]any)
		end, leading := int64(0), true
		for _, s := range stages {
			stage, _ := s.(map[string]any)
			end += field(stage, "durationSeconds")
			users, closed := stage["users"].(int64)
			rest := closed && users == 0
			leading = leading && (rest || stage["discard"] == true || stage["distance"] == string(v1alpha1.StageWithoutDistance))
			if leading || rest {
				seconds = max(seconds, end)
			}
		}
	}
	return seconds
}

// fit makes the last stage as long as the faults and the rest after them need. A load whose last stage no fault reaches stays as it is.
func fit(spec map[string]any, rest int64) {
	load, _ := spec["load"].(map[string]any)
	stages, _ := load["stages"].([]any)
	if len(stages) == 0 {
		return // refused with the experiment
	}
	faults, _ := spec["faults"].([]any)
	var ends, before int64
	for _, f := range faults {
		ends = max(ends, field(f, "atSeconds")+field(f, "holdSeconds"))
	}
	for _, s := range stages[:len(stages)-1] {
		before += field(s, "durationSeconds")
	}
	if last, ok := stages[len(stages)-1].(map[string]any); ok && ends+rest > before {
		last["durationSeconds"] = ends + rest - before
	}
}

func field(object any, name string) int64 {
	m, _ := object.(map[string]any)
	n, _ := m[name].(int64)
	return n
}
