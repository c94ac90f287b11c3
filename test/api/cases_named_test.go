package api_test

// ofTwo is an experiment with a fault that is as it should be, and with another one after it.
func ofTwo(topology, other string) string {
	return `{spec: {topology: ` + topology + `, faults: [{name: fine, atSeconds: 3, target: Primary, action: Kill, holdSeconds: 0}, {name: other, ` + other + `}]}}`
}

// namedCases tell whether the refusal of a fault names the one that is wrong.
var namedCases = []ruleCase{
	{
		name:    "one of two faults after the load",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 30, target: Primary, action: Kill`), says: "faults[].atSeconds counts from the start of the load", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 29, target: Primary, action: Kill`),
	},
	{
		name:    "one of two faults in a stage that is discarded",
		refused: ofTwo(`{type: Async, replicas: 2}, load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}]}`, `atSeconds: 10, target: Primary, action: Kill`), says: "faults[].atSeconds is in a stage that is discarded", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2}, load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}]}`, `atSeconds: 9, target: Primary, action: Kill`),
	},
	{
		name:    "one of two faults on a node that is not there",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Node, node: 3, action: Kill`), says: "faults[].node must be a node of the topology", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Node, node: 2, action: Kill`),
	},
	{
		name:    "one of two faults on a replica where there is none",
		refused: ofTwo(`{type: Single}`, `atSeconds: 10, target: Replica, action: Kill`), says: "faults[].target Replica and AllReplicas need", names: "other",
		neighbour: ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Kill`),
	},
	{
		name:    "one of two faults cuts off from nobody",
		refused: ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5`), says: "faults[].partitionFrom Peers and Zone need", names: "other",
		neighbour: ofTwo(`{type: Single}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Clients, holdSeconds: 5`),
	},
	{
		name:    "one of two faults by zones that are not there",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`), says: "faults[].partitionFrom Zone needs topology.zones", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5`),
	},
	{
		name:    "one of two faults by zones of which one has all nodes",
		refused: ofTwo(`{type: Async, replicas: 1, zones: [{name: eu, nodes: [0, 1]}]}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`), says: "faults[].partitionFrom Zone needs nodes in at least two", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 1, zones: [{name: eu, nodes: [0]}]}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5`),
	},
	{
		name:    "two switchovers at once after another fault",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: Switchover}, {name: last, atSeconds: 10, target: Primary, action: Switchover`), says: "faults[].action Switchover is at the same second", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: Switchover}, {name: last, atSeconds: 11, target: Primary, action: Switchover`),
	},
	{
		name:    "one of two faults is a switchover to nobody",
		refused: ofTwo(`{type: Async, replicas: 1, failover: None}`, `atSeconds: 10, target: Primary, action: Switchover`), says: "faults[].action Switchover needs another node that may become primary", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 1}`, `atSeconds: 10, target: Primary, action: Switchover`),
	},
	{
		name:    "one of two faults is a switchover that the proxy does not follow",
		refused: ofTwo(`{type: Galera, replicas: 2}, routing: {proxy: ProxySQL}`, `atSeconds: 10, target: Primary, action: Switchover`), says: "faults[].action Switchover with topology.type Galera", names: "other",
		neighbour: ofTwo(`{type: Galera, replicas: 2}, routing: {proxy: HAProxy}`, `atSeconds: 10, target: Primary, action: Switchover`),
	},
	{
		name:    "one of two faults holds a pod whose data are gone",
		refused: ofTwo(`{type: Async, replicas: 2, storage: {medium: Memory}}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 5`), says: "faults[].holdSeconds with action DeletePod needs", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2, storage: {medium: Memory}}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 0`),
	},
}
