package api_test

import "strings"

// runShapeCases are of what is done to the topology: fields that do not go together, or not with this version.
var runShapeCases = []ruleCase{
	{
		name:    "nothing but warm-up",
		refused: `{spec: {load: {stages: [{name: warmup, durationSeconds: 1, users: 1, discard: true}]}}}`, says: "load.stages are all discarded",
		neighbour: `{spec: {load: {stages: [{name: warmup, durationSeconds: 1, users: 1, discard: true}, {name: steady, durationSeconds: 1, users: 1}]}}}`,
	},
	{
		name:    "a mix of nothing",
		refused: `{spec: {load: {mix: {register: 0, profile: 0, search: 0}}}}`, says: "load.mix needs at least one weight above 0",
		neighbour: `{spec: {load: {mix: {register: 0, profile: 0, search: 0, login: 1}}}}`,
	},
	{
		name:    "a stage that is neither closed nor open",
		refused: `{spec: {load: {stages: [{name: steady, durationSeconds: 1}]}}}`, says: "load.stages[] needs users",
		neighbour: `{spec: {load: {stages: [{name: steady, durationSeconds: 1, requestsPerSecond: 1}]}}}`,
	},
	{
		name:    "a stage that is both closed and open",
		refused: `{spec: {load: {stages: [{name: steady, durationSeconds: 1, users: 1, requestsPerSecond: 1}]}}}`, says: "load.stages[] needs either users",
		neighbour: `{spec: {load: {stages: [{name: steady, durationSeconds: 1, users: 1}]}}}`,
	},
	{
		name:    "a closed loop with a bound on its users",
		refused: `{spec: {load: {stages: [{name: steady, durationSeconds: 1, users: 1, maxUsers: 2}]}}}`, says: "load.stages[].maxUsers belongs to requestsPerSecond",
		neighbour: `{spec: {load: {stages: [{name: steady, durationSeconds: 1, requestsPerSecond: 1, maxUsers: 2}]}}}`,
	},
	{
		name:    "a fault after the load",
		refused: withFault(`{name: crash, atSeconds: 30, target: Primary, action: Kill}`), says: "faults[].atSeconds counts from the start of the load",
		neighbour: withFault(`{name: crash, atSeconds: 29, target: Primary, action: Kill}`),
	},
	{
		name:    "a fault in a node that does not exist",
		refused: withFault(`{name: crash, atSeconds: 1, target: Node, node: 3, action: Kill}`), says: "faults[].node must be a node of the topology",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: Node, node: 2, action: Kill}`),
	},
	{
		name:    "a fault in a replica where there is none",
		refused: `{spec: {faults: [{name: crash, atSeconds: 1, target: Replica, action: Kill}]}}`, says: "faults[].target Replica and AllReplicas need a topology with replicas",
		neighbour: `{spec: {faults: [{name: crash, atSeconds: 1, target: Primary, action: Kill}]}}`,
	},
	{
		name:    "a fault in all replicas where there is none",
		refused: `{spec: {faults: [{name: crash, atSeconds: 1, target: AllReplicas, action: Kill}]}}`, says: "faults[].target Replica and AllReplicas need a topology with replicas",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: AllReplicas, action: Kill}`),
	},
	{
		name:    "a partition from peers where there is none",
		refused: `{spec: {faults: [{name: cut, atSeconds: 1, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 5}]}}`, says: "faults[].partitionFrom Peers and Zone need a topology with replicas",
		neighbour: `{spec: {faults: [{name: cut, atSeconds: 1, target: Primary, action: Partition, partitionFrom: Clients, holdSeconds: 5}]}}`,
	},
	{
		name:    "a deleted pod held down on storage that goes with it",
		refused: `{spec: {topology: {storage: {medium: Node}}, faults: [{name: gone, atSeconds: 1, target: Primary, action: DeletePod, holdSeconds: 5}]}}`, says: "faults[].holdSeconds with action DeletePod needs topology.storage.medium VolumeClaim",
		neighbour: `{spec: {topology: {storage: {medium: Node}}, faults: [{name: gone, atSeconds: 1, target: Primary, action: DeletePod}]}}`,
	},
	{
		name:    "target Node without a node",
		refused: withFault(`{name: crash, atSeconds: 1, target: Node, action: Kill}`), says: "faults[].node belongs to target Node",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: Node, node: 0, action: Kill}`),
	},
	{
		name:    "a node for another target",
		refused: withFault(`{name: crash, atSeconds: 1, target: Primary, node: 0, action: Kill}`), says: "faults[].node belongs to target Node",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: Primary, action: Kill}`),
	},
	{
		name:    "a partition from nobody",
		refused: withFault(`{name: cut, atSeconds: 1, target: Primary, action: Partition, holdSeconds: 5}`), says: "faults[].partitionFrom belongs to action Partition",
		neighbour: withFault(`{name: cut, atSeconds: 1, target: Primary, action: Partition, partitionFrom: Everyone, holdSeconds: 5}`),
	},
	{
		name:    "a kill that cuts off",
		refused: withFault(`{name: crash, atSeconds: 1, target: Primary, action: Kill, partitionFrom: Peers}`), says: "faults[].partitionFrom belongs to action Partition",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: Primary, action: Kill}`),
	},
	{
		name:    "a kill with a grace period",
		refused: withFault(`{name: crash, atSeconds: 1, target: Primary, action: Kill, gracePeriodSeconds: 0}`), says: "faults[].gracePeriodSeconds belongs to action DeletePod",
		neighbour: withFault(`{name: crash, atSeconds: 1, target: Primary, action: DeletePod, gracePeriodSeconds: 0}`),
	},
	{
		name:    "a pause of no time",
		refused: withFault(`{name: stop, atSeconds: 1, target: Primary, action: Pause}`), says: "faults[].holdSeconds must be above 0, or -1",
		neighbour: withFault(`{name: stop, atSeconds: 1, target: Primary, action: Pause, holdSeconds: -1}`),
	},
	{
		name:    "a partition of no time",
		refused: withFault(`{name: cut, atSeconds: 1, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 0}`), says: "faults[].holdSeconds must be above 0, or -1",
		neighbour: withFault(`{name: cut, atSeconds: 1, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: 1}`),
	},
	{
		name:    "a goal without a limit",
		refused: `{spec: {goals: [{metric: lostWrites}]}}`, says: "goals[] needs a limit",
		neighbour: `{spec: {goals: [{metric: lostWrites, max: 0}]}}`,
	},
	{
		name:    "a goal that no value meets",
		refused: `{spec: {goals: [{metric: lostWrites, max: 0, min: 1}]}}`, says: "goals[].min is above max",
		neighbour: `{spec: {goals: [{metric: lostWrites, max: 1, min: 1}]}}`,
	},
	{
		name:    "a goal for the lag of nobody",
		refused: `{spec: {goals: [{metric: lagP99Microseconds, max: 1}]}}`, says: "goals[] for the lag needs",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, goals: [{metric: lagP99Microseconds, max: 1}]}}`,
	},
	{
		name:    "a goal for the lag with its probe turned off",
		refused: `{spec: {topology: {type: Async, replicas: 1}, probes: {lag: {intervalMilliseconds: 0}}, goals: [{metric: lagMaxMicroseconds, max: 1}]}}`, says: "goals[] for the lag needs",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, probes: {lag: {intervalMilliseconds: 0}}, goals: [{metric: lostWrites, max: 1}]}}`,
	},
	{
		name:    "a goal for semi-sync's counters without semi-sync",
		refused: `{spec: {topology: {type: Async, replicas: 1}, goals: [{metric: unacknowledgedCommits, max: 0}]}}`, says: "goals[] is measured with topology.type SemiSync, and",
		neighbour: `{spec: {topology: {type: SemiSync, replicas: 1}, goals: [{metric: unacknowledgedCommits, max: 0}]}}`,
	},
	{
		name:    "a goal for what members of a group count without a group",
		refused: `{spec: {topology: {type: SemiSync, replicas: 1}, goals: [{metric: flowControlPausedPermille, max: 0}]}}`, says: "goals[] is measured with topology.type Galera only",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: flowControlPausedPermille, max: 0}]}}`,
	},
	{
		name:    "resources for all pods alike",
		refused: `{spec: {pods: {all: {resources: {requests: {cpu: 1}}}}}}`, says: "pods.all.resources would be the same",
		neighbour: `{spec: {pods: {nodes: {resources: {requests: {cpu: 1}}}}}}`,
	},
	{
		name:    "a label that replab finds its pods by",
		refused: `{spec: {pods: {instruments: {labels: {replab.dev/experiment: x}}}}}`, says: "pods labels cannot be",
		neighbour: `{spec: {pods: {instruments: {labels: {example.com/experiment: x}}}}}`,
	},
	{
		name:    "a label too long for a pod",
		refused: `{spec: {pods: {all: {labels: {a: ` + strings.Repeat("x", 64) + `}}}}}`, says: "pods labels have a key",
		neighbour: `{spec: {pods: {all: {labels: {a: ` + strings.Repeat("x", 63) + `}}}}}`,
	},
}
