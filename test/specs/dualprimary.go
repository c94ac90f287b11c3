package specs

// pairOf is two primaries, with more of the topology and of the spec.
func pairOf(more, spec string) string {
	return `{spec: {topology: {type: DualPrimary, nodes: 2` + more + `}` + spec + `}}`
}

// dualPrimaryCases are of two servers that both take writes.
var dualPrimaryCases = []Case{
	{
		Name:      "a third primary",
		Refused:   `{spec: {topology: {type: DualPrimary, nodes: 3}}}`,
		Field:     "spec.topology.nodes",
		Says:      "type DualPrimary has 2 nodes",
		Neighbour: pairOf("", ""),
	},
	{
		Name:      "two primaries without failover",
		Refused:   pairOf(", failover: None", ""),
		Field:     "spec.topology.failover",
		Says:      "with type DualPrimary the proxy moves the writes",
		Neighbour: pairOf(", failover: Automatic", ""),
	},
	{
		Name:      "two primaries of PostgreSQL",
		Refused:   pairOf(", engine: PostgreSQL", ""),
		Field:     "spec.topology.engine",
		Says:      "type DualPrimary does not run PostgreSQL",
		Neighbour: pairOf(", engine: MariaDB", ""),
	},
	{
		Name:      "two primaries and a director",
		Refused:   pairOf(", director: {periodMilliseconds: 100}", ""),
		Field:     "spec.topology.director",
		Says:      "no director manages these nodes",
		Neighbour: pairOf("", ""),
	},
	{
		Name:      "two primaries of which nothing chooses one",
		Refused:   pairOf("", ", routing: {proxy: None}"),
		Field:     "spec.routing.proxy",
		Says:      "without a proxy nothing chooses one of two primaries",
		Neighbour: pairOf("", ", routing: {proxy: HAProxy}"),
	},
	{
		Name:      "the primary of two",
		Refused:   pairOf("", ", faults: [{name: crash, atSeconds: 5, target: Primary, action: Kill}]"),
		Field:     "spec.faults[0].target",
		Says:      "with DualPrimary both nodes are primaries",
		Neighbour: pairOf("", ", faults: [{name: crash, atSeconds: 5, target: Node, node: 0, action: Kill}]"),
	},
	{
		Name:      "a switchover between two primaries",
		Refused:   pairOf("", ", faults: [{name: planned, atSeconds: 5, target: Node, node: 0, action: Switchover}]"),
		Field:     "spec.faults[0].action",
		Says:      "with DualPrimary no node hands the writes over",
		Neighbour: pairOf("", ", faults: [{name: planned, atSeconds: 5, target: Node, node: 0, action: Pause, holdSeconds: 5}]"),
	},
	{
		Name:      "a pod whose data nobody has any more",
		Refused:   pairOf(", dualPrimary: {logReplicaUpdates: false}, storage: {medium: Node}", ", faults: [{name: gone, atSeconds: 5, target: Node, node: 0, action: DeletePod}]"),
		Field:     "spec.faults[0].action",
		Says:      "the node's data go with its pod, and the other's log lacks a part",
		Neighbour: pairOf(", dualPrimary: {logReplicaUpdates: true}, storage: {medium: Node}", ", faults: [{name: gone, atSeconds: 5, target: Node, node: 0, action: DeletePod}]"),
	},
	{
		Name:      "both primaries until the audit is done",
		Refused:   pairOf(", dualPrimary: {semiSync: false}", ", faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Kill, holdSeconds: -1}, {name: b, atSeconds: 20, target: Node, node: 1, action: Partition, partitionFrom: Clients, holdSeconds: -1}]"),
		Field:     "spec.faults[1].holdSeconds",
		Says:      "no node is left that could take writes until the audit is done",
		Neighbour: pairOf(", dualPrimary: {semiSync: false}", ", faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 20, target: Node, node: 1, action: Partition, partitionFrom: Clients, holdSeconds: -1}]"),
	},
	{
		Name:      "rows that cannot diverge",
		Refused:   `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: divergentRows, max: 0}]}}`,
		Field:     "spec.goals[0].metric",
		Says:      "only two primaries have this figure",
		Neighbour: pairOf("", ", goals: [{metric: divergentRows, max: 0}]"),
	},
	{
		Name:      "degraded commits of two primaries that wait for nothing",
		Refused:   pairOf(", dualPrimary: {semiSync: false}", ", goals: [{metric: degradedCommits, max: 0}]"),
		Field:     "spec.goals[0].metric",
		Says:      "no commit waits for a replica here",
		Neighbour: pairOf(", dualPrimary: {semiSync: true}", ", goals: [{metric: degradedCommits, max: 0}]"),
	},
}
