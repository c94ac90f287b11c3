package api_test

// faultSenseCases are of faults that would hit nothing or count nowhere.
var faultSenseCases = []ruleCase{
	{
		name:    "a fault in a warm-up",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: crash, atSeconds: 5, target: Primary, action: Kill, holdSeconds: 0}], load: {stages: [{name: warmup, durationSeconds: 6, users: 1, discard: true}, {name: steady, durationSeconds: 30, users: 1}]}}}`, says: "faults[].atSeconds is in a stage that is discarded",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: crash, atSeconds: 6, target: Primary, action: Kill, holdSeconds: 0}], load: {stages: [{name: warmup, durationSeconds: 6, users: 1, discard: true}, {name: steady, durationSeconds: 30, users: 1}]}}}`,
	},
	{
		name:    "a fault in a stage between two that count",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: crash, atSeconds: 10, target: Primary, action: Kill, holdSeconds: 0}], load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}, {name: c, durationSeconds: 10, users: 1}]}}}`, says: "faults[].atSeconds is in a stage that is discarded",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: crash, atSeconds: 20, target: Primary, action: Kill, holdSeconds: 0}], load: {stages: [{name: a, durationSeconds: 10, users: 1}, {name: b, durationSeconds: 10, users: 1, discard: true}, {name: c, durationSeconds: 10, users: 1}]}}}`,
	},
	{
		name:    "a node that is killed while it is held down",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 14, target: Node, node: 1, action: Kill}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 15, target: Node, node: 1, action: Kill}]}}`,
	},
	{
		name:    "a node that is paused while it is held down to the end",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: -1}, {name: b, atSeconds: 20, target: Node, node: 1, action: Pause, holdSeconds: 1}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: -1}, {name: b, atSeconds: 20, target: Node, node: 2, action: Pause, holdSeconds: 1}]}}`,
	},
	{
		name:    "replicas that are paused twice, in whatever order",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: b, atSeconds: 14, target: AllReplicas, action: Pause, holdSeconds: 1}, {name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 10}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: b, atSeconds: 15, target: AllReplicas, action: Pause, holdSeconds: 1}, {name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 10}]}}`,
	},
	{
		name:    "a replica to kill where all are down",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Replica, action: Kill}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Primary, action: Kill}]}}`,
	},
	{
		name:    "the only replica twice",
		refused: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Replica, action: Kill}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Replica, action: Kill}]}}`,
	},
	{
		name:    "the only node twice, by two names",
		refused: `{spec: {topology: {type: Single}, faults: [{name: a, atSeconds: 5, target: Primary, action: DeletePod, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Kill}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Single}, faults: [{name: a, atSeconds: 5, target: Primary, action: DeletePod}, {name: b, atSeconds: 6, target: Node, node: 0, action: Kill}]}}`,
	},
	{
		name:    "a primary that nobody replaces, twice",
		refused: `{spec: {topology: {type: Async, replicas: 2, failover: None}, faults: [{name: a, atSeconds: 5, target: Primary, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Primary, action: Kill, holdSeconds: 0}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Primary, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Primary, action: Kill, holdSeconds: 0}]}}`,
	},
	{
		name:    "a partition in the same partition",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 1}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Clients, holdSeconds: 1}]}}`,
	},
	{
		name:    "a zone that is cut off already, by another of its nodes",
		refused: `{spec: {topology: {type: Async, replicas: 2, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}]}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 1}]}}`, says: "faults[].node is in a zone that an earlier fault still cuts off", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}]}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 1}]}}`,
	},
	{
		name:    "a partition in one from everyone",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Everyone, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Clients, holdSeconds: 1}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Clients, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Everyone, holdSeconds: 1}]}}`,
	},
	{
		name:    "a node that is killed while it is down, and not while it is cut off",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Kill, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Kill, holdSeconds: 1}]}}`, says: "faults[].atSeconds is while an earlier fault still holds", names: "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 10}, {name: b, atSeconds: 6, target: Node, node: 0, action: Kill, holdSeconds: 1}]}}`,
	},
	{
		name:    "a switchover to nobody",
		refused: `{spec: {topology: {type: Single}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`, says: "faults[].action Switchover needs another node",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`,
	},
	{
		name:    "a switchover where nobody is promoted",
		refused: `{spec: {topology: {type: Async, replicas: 1, failover: None}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`, says: "faults[].action Switchover needs another node",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, failover: None}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Kill}]}}`,
	},
	{
		name:    "a switchover of a group behind a proxy that chooses its writer",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, routing: {proxy: ProxySQL}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`, says: "faults[].action Switchover with topology.type Galera",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`,
	},
	{
		name:    "a switchover of a replica",
		refused: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: planned, atSeconds: 5, target: Replica, action: Switchover}]}}`, says: "faults[].target must be Primary for action Switchover",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover}]}}`,
	},
	{
		name:    "a switchover that is held",
		refused: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover, holdSeconds: 5}]}}`, says: "faults[].holdSeconds must be 0 for action Switchover",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: planned, atSeconds: 5, target: Primary, action: Switchover, holdSeconds: 0}]}}`,
	},
	{
		name:    "a partition by zone without zones",
		refused: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: apart, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5}]}}`, says: "faults[].partitionFrom Zone needs topology.zones",
		neighbour: `{spec: {topology: {type: Async, replicas: 2, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}]}, faults: [{name: apart, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5}]}}`,
	},
	{
		name:    "a partition of all nodes from nobody",
		refused: `{spec: {topology: {type: Async, replicas: 1, zones: [{name: eu, nodes: [0, 1]}]}, faults: [{name: apart, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5}]}}`, says: "faults[].partitionFrom Zone needs nodes in at least two",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, zones: [{name: eu, nodes: [0]}]}, faults: [{name: apart, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 5}]}}`,
	},
}
