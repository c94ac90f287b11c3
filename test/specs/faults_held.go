package specs

// async3, galera3 and the like are a topology with as many nodes, and faults.
func async3(faults string) string {
	return `{spec: {topology: {type: Async, nodes: 3}, faults: [` + faults + `]}}`
}

func async4(faults string) string {
	return `{spec: {topology: {type: Async, nodes: 4}, faults: [` + faults + `]}}`
}

func galera3(faults string) string {
	return `{spec: {topology: {type: Galera, nodes: 3}, faults: [` + faults + `]}}`
}

func zoned(shape, faults string) string {
	return `{spec: {topology: {` + shape + `}, faults: [` + faults + `]}}`
}

// heldCases are of faults that have the same node.
var heldCases = []Case{
	{
		Name:      "more replicas than there are, in one second",
		Refused:   async3(`{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}, {name: c, atSeconds: 5, target: Replica, action: Kill}`),
		Field:     "spec.faults[2]",
		Says:      "faults[0] hits node 1 in the same second, so nothing is left to do",
		Neighbour: async4(`{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}, {name: c, atSeconds: 5, target: Replica, action: Kill}`),
	},
	{
		Name:      "the only replica twice in one second",
		Refused:   `{spec: {topology: {type: Async, nodes: 2}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}]}}`,
		Field:     "spec.faults[1]",
		Says:      "faults[0] hits node 1 in the same second, so nothing is left to do",
		Neighbour: `{spec: {topology: {type: Async, nodes: 2}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 6, target: Replica, action: Kill}]}}`,
	},
	{
		Name:      "the primary twice in one second",
		Refused:   async3(`{name: z, atSeconds: 1, target: Replica, action: Kill}, {name: a, atSeconds: 5, target: Primary, action: Kill}, {name: b, atSeconds: 5, target: Primary, action: Kill}`),
		Field:     "spec.faults[2]",
		Says:      "faults[1] hits node 0 in the same second, so nothing is left to do",
		Neighbour: async3(`{name: z, atSeconds: 1, target: Replica, action: Kill}, {name: a, atSeconds: 5, target: Primary, action: Kill}, {name: b, atSeconds: 5, target: Primary, action: DeletePod}`),
	},
	{
		Name:      "a node twice in one second",
		Refused:   async3(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill}, {name: b, atSeconds: 5, target: Node, node: 1, action: Pause, holdSeconds: 5}`),
		Field:     "spec.faults[1]",
		Says:      "faults[0] hits node 1 in the same second, so nothing is left to do",
		Neighbour: async3(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill}, {name: b, atSeconds: 6, target: Node, node: 1, action: Pause, holdSeconds: 5}`),
	},
	{
		Name:      "the zone of a replica twice in one second",
		Refused:   zoned(`type: Async, nodes: 4, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Zone, holdSeconds: 5}, {name: b, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Zone, holdSeconds: 5}`),
		Field:     "spec.faults[1].atSeconds",
		Says:      "faults[0] cuts off a replica's zone in the same second, which may be the same zone",
		Neighbour: zoned(`type: Async, nodes: 4, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}, {name: b, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
	},
	{
		Name:      "more replicas than there are, one after the other",
		Refused:   `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Pause, holdSeconds: 60}, {name: c, atSeconds: 30, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		Field:     "spec.faults[2]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Pause, holdSeconds: 10}, {name: c, atSeconds: 30, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		Name:      "two replicas where one is held down",
		Refused:   `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}, {name: c, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		Field:     "spec.faults[2]",
		Says:      "faults[1] hits node 2 in the same second, so nothing is left to do",
		Neighbour: `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}, {name: c, atSeconds: 20, target: Replica, action: Partition, partitionFrom: Clients, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		Name:      "a replica where all are out of their manager's reach",
		Refused:   `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: AllReplicas, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		Field:     "spec.faults[1]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: AllReplicas, action: Partition, partitionFrom: Peers, holdSeconds: 60}, {name: b, atSeconds: 20, target: Replica, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		Name:      "all replicas of which the only one is out of its manager's reach",
		Refused:   `{spec: {topology: {type: Async, nodes: 2}, faults: [{name: a, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
		Field:     "spec.faults[1]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Everyone, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill, holdSeconds: 5}], load: {stages: [{name: long, durationSeconds: 60, users: 1}]}}}`,
	},
	{
		Name:      "all replicas before it shows that one is down",
		Refused:   async4(`{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 7, target: AllReplicas, action: Kill}`),
		Field:     "spec.faults[1]",
		Says:      "node 1 is still down from faults[0] at 7 s",
		Neighbour: async4(`{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 60}, {name: b, atSeconds: 8, target: AllReplicas, action: Kill}`),
	},
	{
		Name:      "all replicas of which one is cut off",
		Refused:   async4(`{name: a, atSeconds: 5, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
		Field:     "spec.faults[1]",
		Says:      "node 1 is still cut off from faults[0] at 20 s",
		Neighbour: async4(`{name: a, atSeconds: 5, target: Replica, action: Pause, holdSeconds: 60}, {name: b, atSeconds: 20, target: AllReplicas, action: Pause, holdSeconds: 5}`),
	},
	{
		Name:      "all replicas where one is all",
		Refused:   `{spec: {topology: {type: Async, nodes: 2}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill}]}}`,
		Field:     "spec.faults[1]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: `{spec: {topology: {type: Async, nodes: 3}, faults: [{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 20, target: AllReplicas, action: Kill}]}}`,
	},
	{
		Name:      "a server that is paused after its pod was deleted and held",
		Refused:   async3(`{name: a, atSeconds: 5, target: Node, node: 1, action: DeletePod, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: Pause, holdSeconds: 1}`),
		Field:     "spec.faults[1]",
		Says:      "node 1 is still down from faults[0] at 10 s",
		Neighbour: async3(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: DeletePod}`),
	},
	{
		Name:      "a replica's pod where no replica is up",
		Refused:   async3(`{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Replica, action: DeletePod}`),
		Field:     "spec.faults[1]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: async3(`{name: a, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Node, node: 1, action: DeletePod}`),
	},
	{
		Name:      "a replica to cut off where all are paused",
		Refused:   async3(`{name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 20}, {name: b, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
		Field:     "spec.faults[1]",
		Says:      "no replica is up at that moment: earlier faults hold all of them",
		Neighbour: async3(`{name: a, atSeconds: 5, target: AllReplicas, action: Pause, holdSeconds: 5}, {name: b, atSeconds: 10, target: Replica, action: Partition, partitionFrom: Peers, holdSeconds: 5}`),
	},
	{
		Name:      "a server that is killed alone while it is down with its manager",
		Refused:   onPatroni(``, `atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 1, action: KillServer`),
		Field:     "spec.faults[2]",
		Says:      "node 1 is still down from faults[1] at 6 s",
		Neighbour: onPatroni(``, `atSeconds: 5, target: Node, node: 1, action: Pause, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 1, action: KillServer`),
	},
	{
		Name:      "a switchover while the primary's zone, in which nobody else is, is cut off",
		Refused:   zoned(`type: Async, nodes: 3, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}]`, `{name: a, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
		Field:     "spec.faults[1].action",
		Says:      "no other node can take over at that moment: faults hold all others down or cut off",
		Neighbour: zoned(`type: Async, nodes: 3, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
	},
	{
		Name:      "a switchover while the zones of all replicas are cut off",
		Refused:   zoned(`type: Async, nodes: 3, zones: [{name: eu, nodes: [1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: c, atSeconds: 6, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
		Field:     "spec.faults[2].action",
		Says:      "no other node can take over at that moment: faults hold all others down or cut off",
		Neighbour: zoned(`type: Async, nodes: 3, zones: [{name: eu, nodes: [1]}, {name: us, nodes: [2]}]`, `{name: a, atSeconds: 5, target: Node, node: 1, action: Partition, partitionFrom: Zone, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
	},
	{
		Name:      "a switchover of a group that is cut into halves",
		Refused:   zoned(`type: Galera, nodes: 4, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 14, target: Primary, action: Switchover}`),
		Field:     "spec.faults[1].action",
		Says:      "no other node can take over at that moment: faults hold all others down or cut off",
		Neighbour: zoned(`type: Galera, nodes: 4, zones: [{name: eu, nodes: [0, 1]}, {name: us, nodes: [2, 3]}]`, `{name: a, atSeconds: 5, target: Node, node: 2, action: Partition, partitionFrom: Zone, holdSeconds: 10}, {name: b, atSeconds: 15, target: Primary, action: Switchover}`),
	},
}
