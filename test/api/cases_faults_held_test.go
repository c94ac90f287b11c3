package api_test

// async2, galera2 and the like are a topology with as many replicas, and faults.
func async2(faults string) string {
	return `{spec: {topology: {type: Async, replicas: 2}, faults: [` + faults + `]}}`
}

func async3(faults string) string {
	return `{spec: {topology: {type: Async, replicas: 3}, faults: [` + faults + `]}}`
}

func galera2(faults string) string {
	return `{spec: {topology: {type: Galera, replicas: 2}, faults: [` + faults + `]}}`
}

func zoned(shape, faults string) string {
	return `{spec: {topology: {` + shape + `}, faults: [` + faults + `]}}`
}

// heldCases are of faults that have the same node.
var heldCases = []ruleCase{
	{
		name:      "more replicas than there are, in one second",
		refused:   async2(`{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}, {name: c, atSeconds: 5, target: Replica, action: Kill}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "a",
		neighbour: async3(`{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}, {name: c, atSeconds: 5, target: Replica, action: Kill}`),
	},
	{
		name:      "the only replica twice in one second",
		refused:   `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}]}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "a",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 6, target: Replica, action: Kill}]}}`,
	},
	{
		name:      "the primary twice in one second",
		refused:   async2(`{name: z, atSeconds: 1, target: Replica, action: Kill}, {name: a, atSeconds: 5, target: Primary, action: Kill}, {name: b, atSeconds: 5, target: Primary, action: Kill}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "a",
		neighbour: async2(`{name: z, atSeconds: 1, target: Replica, action: Kill}, {name: a, atSeconds: 5, target: Primary, action: Kill}, {name: b, atSeconds: 5, target: Primary, action: DeletePod}`),
	},
	{
		name:      "a node twice in one second",
		refused:   async2(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill}, {name: b, atSeconds: 5, target: Node, node: 1, action: Pause, holdSeconds: 5}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async2(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill}, {name: b, atSeconds: 6, target: Node, node: 1, action: Pause, holdSeconds: 5}`),
	},
	{
		name:      "the zone of a replica twice in one second",
		refused:   zoned(`type: Async, replicas: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Zone, holdSeconds: 5}, {name: b, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Zone, holdSeconds: 5}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "a",
		neighbour: zoned(`type: Async, replicas: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}, {name: b, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
	},
	{
		name:      "more replicas than there are, one after the other",
		refused:   `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Pause, holdSeconds: 60}, {name: c, atSeconds: 30, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "c",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Pause, holdSeconds: 10}, {name: c, atSeconds: 30, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		name:      "two replicas where one is held down",
		refused:   `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}, {name: c, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}, {name: c, atSeconds: 20, target: Replica, action: Partition, partitionFrom: Clients, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		name:      "a replica where all are out of their manager's reach",
		refused:   `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: AllReplicas, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: AllReplicas, action: Partition, partitionFrom: Peers, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		name:      "all replicas of which the only one is out of its manager's reach",
		refused:   `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: a, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		name:      "all replicas before it shows that one is down",
		refused:   async3(`{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 7, target: AllReplicas, action: Kill}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async3(`{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 8, target: AllReplicas, action: Kill}`),
	},
	{
		name:      "all replicas of which one is cut off",
		refused:   async3(`{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async3(`{name: a, atSeconds: 5, target: Replica, action: Pause, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Pause, holdSeconds: 5}`),
	},
	{
		name:      "all replicas where one is all",
		refused:   `{spec: {topology: {type: Async, replicas: 1}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill}]}}`,
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill}]}}`,
	},
	{
		name:      "a server that is paused after its pod was deleted and held",
		refused:   async2(`{name: a, atSeconds: 5, target: Node, node: 1, action: DeletePod, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: Pause, holdSeconds: 1}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async2(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: DeletePod}`),
	},
	{
		name:      "a replica's pod where no replica is up",
		refused:   async2(`{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Replica, action: DeletePod}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async2(`{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: DeletePod}`),
	},
	{
		name:      "a replica to cut off where all are paused",
		refused:   async2(`{name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 20}, {name: b, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "b",
		neighbour: async2(`{name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 5}, {name: b, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
	},
	{
		name:      "a server that is killed alone while it is down with its manager",
		refused:   onPatroni(``, `atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 1, action: KillServer`),
		says:      "faults[].atSeconds is while an earlier fault still holds",
		names:     "last",
		neighbour: onPatroni(``, `atSeconds: 5, target: Node, node: 1, action: Pause, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 1, action: KillServer`),
	},
	{
		name:      "a switchover while the primary's zone, in which nobody else is, is cut off",
		refused:   zoned(`type: Async, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}]`, `{name: a, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
		says:      "faults[].action Switchover is while a partition by zone",
		names:     "b",
		neighbour: zoned(`type: Async, replicas: 2, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
	},
	{
		name:      "a switchover while the zones of all replicas are cut off",
		refused:   zoned(`type: Async, replicas: 2, zones: [{name: eu, nodes: [1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: c, atSeconds: 6, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
		says:      "faults[].action Switchover is while a partition by zone",
		names:     "b",
		neighbour: zoned(`type: Async, replicas: 2, zones: [{name: eu, nodes: [1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
	},
	{
		name:      "a switchover of a group that is cut into halves",
		refused:   zoned(`type: Galera, replicas: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 14, target: Primary, action: Switchover}`),
		says:      "faults[].action Switchover is while a partition by zone",
		names:     "b",
		neighbour: zoned(`type: Galera, replicas: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 15, target: Primary, action: Switchover}`),
	},
}
