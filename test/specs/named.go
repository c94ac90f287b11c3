package specs

// ofTwo is an experiment with a fault that is as it should be, and with another one after it.
func ofTwo(topology, other string) string {
	return `{spec: {topology: ` + topology + `, faults: [{name: fine, atSeconds: 3, target: Primary, action: Kill, holdSeconds: 0}, {name: other, ` + other + `}]}}`
}

// namedCases tell whether the refusal of a fault names the one that is wrong.
var namedCases = []Case{
	{
		Name:      "one of two faults after the load",
		Refused:   ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 30, target: Primary, action: Kill`),
		Field:     "spec.faults[1].atSeconds",
		Says:      "the load ends at 30 s",
		Neighbour: ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 29, target: Primary, action: Kill`),
	},
	{
		Name:      "one of two faults in a stage that is discarded",
		Refused:   ofTwo(`{type: Async, nodes: 3}, load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}]}`, `atSeconds: 10, target: Primary, action: Kill`),
		Field:     "spec.faults[1].atSeconds",
		Says:      "stage b is discarded, so the effect counts nowhere",
		Neighbour: ofTwo(`{type: Async, nodes: 3}, load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}]}`, `atSeconds: 9, target: Primary, action: Kill`),
	},
	{
		Name:      "one of two faults on a node that is not there",
		Refused:   ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Node, node: 3, action: Kill`),
		Field:     "spec.faults[1].node",
		Says:      "the topology has no such node",
		Neighbour: ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Node, node: 2, action: Kill`),
	},
	{
		Name:      "one of two faults on a replica where there is none",
		Refused:   ofTwo(`{type: Single}`, `atSeconds: 10, target: Replica, action: Kill`),
		Field:     "spec.faults[1].target",
		Says:      "the topology has no replicas",
		Neighbour: ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Kill`),
	},
	{
		Name:      "one of two faults cuts off from nobody",
		Refused:   ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5`),
		Field:     "spec.faults[1].partitionFrom",
		Says:      "there is no other node to be cut off from",
		Neighbour: ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Clients, holdSeconds: 5`),
	},
	{
		Name:      "one of two faults by zones that are not there",
		Refused:   ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`),
		Field:     "spec.faults[1].partitionFrom",
		Says:      "Zone needs topology.zones",
		Neighbour: ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5`),
	},
	{
		Name:      "one of two faults by zones of which one has all nodes",
		Refused:   ofTwo(`{type: Async, nodes: 2, zones: [{name: eu, nodes: [0, 1]}]}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`),
		Field:     "spec.faults[1].partitionFrom",
		Says:      "all nodes are in one zone, so nothing would be cut off",
		Neighbour: ofTwo(`{type: Async, nodes: 2, zones: [{name: eu, nodes: [0]}]}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`),
	},
	{
		Name:      "two switchovers at once after another fault",
		Refused:   ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Primary, action: Switchover}, {name: last, atSeconds: 10, target: Primary, action: Switchover`),
		Field:     "spec.faults[2].atSeconds",
		Says:      "faults[1] is a Switchover at the same second, and only one can run",
		Neighbour: ofTwo(`{type: Async, nodes: 3}`, `atSeconds: 10, target: Primary, action: Switchover}, {name: last, atSeconds: 11, target: Primary, action: Switchover`),
	},
	{
		Name:      "one of two faults is a switchover to nobody",
		Refused:   ofTwo(`{type: Async, nodes: 2, failover: None}`, `atSeconds: 10, target: Primary, action: Switchover`),
		Field:     "spec.faults[1].action",
		Says:      "Switchover needs another node that may lead",
		Neighbour: ofTwo(`{type: Async, nodes: 2}`, `atSeconds: 10, target: Primary, action: Switchover`),
	},
	{
		Name:      "one of two faults is a switchover that the proxy does not follow",
		Refused:   ofTwo(`{type: Galera, nodes: 3}, routing: {proxy: ProxySQL}`, `atSeconds: 10, target: Primary, action: Switchover`),
		Field:     "spec.faults[1].action",
		Says:      "only HAProxy follows a switchover of Galera",
		Neighbour: ofTwo(`{type: Galera, nodes: 3}, routing: {proxy: HAProxy}`, `atSeconds: 10, target: Primary, action: Switchover`),
	},
	{
		Name:      "one of two faults holds a pod whose data are gone",
		Refused:   ofTwo(`{type: Async, nodes: 3, storage: {medium: Memory}}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 5`),
		Field:     "spec.faults[1].holdSeconds",
		Says:      "the hold is stored on the node's volume, which DeletePod deletes with the pod",
		Neighbour: ofTwo(`{type: Async, nodes: 3, storage: {medium: Memory}}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 0`),
	},
}
