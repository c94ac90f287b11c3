package api_test

// ofPatroni is an experiment with settings of topology.patroni.
func ofPatroni(settings string) string {
	return `{spec: {topology: {type: Patroni, replicas: 2, patroni: {` + settings + `}}}}`
}

// onPatroni has two faults, the second of which is as given, on a topology that Patroni runs.
func onPatroni(topology, other string) string {
	return `{spec: {topology: {type: Patroni, replicas: 2` + topology + `}, faults: [{name: fine, atSeconds: 3, target: Primary, action: Switchover}, {name: other, ` + other + `}]}}`
}

// patroniCases are of nodes that Patroni runs.
var patroniCases = []ruleCase{
	{
		name:    "settings of Patroni for an engine that it does not run",
		refused: `{spec: {topology: {type: Async, replicas: 1, patroni: {synchronousMode: "Off"}}}}`, says: "topology.patroni belongs to type Patroni",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, patroni: {synchronousMode: "Off"}}}}`,
	},
	{
		name:    "commits that wait where replication is asynchronous",
		refused: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, patroni: {ttlSeconds: 40}}}}`, says: "topology.patroni of types Single and Async has timings alone",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, patroni: {ttlSeconds: 40, synchronousMode: "Off"}}}}`,
	},
	{
		name:    "commits that wait for more nodes than there are",
		refused: ofPatroni(`synchronousNodeCount: 3`), says: "topology.patroni.synchronousNodeCount must not exceed",
		neighbour: ofPatroni(`synchronousNodeCount: 2`),
	},
	{
		name:    "commits that wait for more nodes than there are, by name",
		refused: ofPatroni(`synchronousMode: "On", synchronousNodeCount: 3`), says: "topology.patroni.synchronousNodeCount must not exceed",
		neighbour: ofPatroni(`synchronousMode: "On", synchronousNodeCount: 2`),
	},
	{
		name:    "more than one node for commits that wait for none",
		refused: ofPatroni(`synchronousMode: "Off", synchronousNodeCount: 2`), says: "topology.patroni.synchronousNodeCount above 1 needs",
		neighbour: ofPatroni(`synchronousMode: "Off", synchronousNodeCount: 1`),
	},
	{
		name:    "a setting of PostgreSQL that durability decides",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, parameters: {work_mem: 8MB, fsync: "off"}}}}`, says: "topology.parameters[] cannot be set with PostgreSQL", names: "fsync",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, parameters: {work_mem: 8MB, jit: "off"}}}}`,
	},
	{
		name:    "a setting of PostgreSQL that Patroni decides",
		refused: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, parameters: {synchronous_standby_names: x}}}}`, says: "topology.parameters[] cannot be set with PostgreSQL", names: "synchronous_standby_names",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: MariaDB, parameters: {synchronous_standby_names: x}}}}`,
	},
	{
		name:    "a setting of MySQL that replab needs, which PostgreSQL has too",
		refused: `{spec: {topology: {type: Async, replicas: 1, parameters: {log_error_verbosity: verbose}}}}`, says: "topology.parameters[] cannot be set, since replab itself depends on it", names: "log_error_verbosity",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, parameters: {log_error_verbosity: verbose}}}}`,
	},
	{
		name:    "a filter of what MySQL replicates",
		refused: `{spec: {topology: {type: Async, replicas: 1, parameters: {replicate_do_db: x}}}}`, says: "topology.parameters[] cannot be set, as all replication filters", names: "replicate_do_db",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, parameters: {replicate_do_db: x}}}}`,
	},
	{
		name:    "commits that are to wait and cannot",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, durability: Volatile}}}`, says: "topology.durability Volatile lets no commit of PostgreSQL wait",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, durability: Relaxed}}}`,
	},
	{
		name:    "commits that are to wait and cannot, unless they are not to",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, durability: Volatile, patroni: {synchronousMode: "On"}}}}`, says: "topology.durability Volatile lets no commit of PostgreSQL wait",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, durability: Volatile, patroni: {synchronousMode: "Off"}}}}`,
	},
	{
		name:    "the director of servers that have none",
		refused: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, director: {looksToDetect: 2}}}}`, says: "topology.director belongs to types",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: MariaDB, director: {looksToDetect: 2}}}}`,
	},
	{
		name:    "a link beyond which nodes do not hear each other",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1]}], links: [{from: eu, to: us, roundTripMilliseconds: 501}]}}}`, says: "topology.links[] of nodes that Patroni runs must not exceed 500 ms", names: "eu-us",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1]}], links: [{from: eu, to: us, roundTripMilliseconds: 500}]}}}`,
	},
	{
		name:    "little memory for another server's buffer pool",
		refused: `{spec: {topology: {type: Async, replicas: 1, resources: {limits: {memory: 511Mi}}}}}`, says: "topology.resources.limits.memory is below what the server needs",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL, resources: {limits: {memory: 511Mi}}}}}`,
	},
	{
		name:    "little memory for another server, for all pods of nodes",
		refused: `{spec: {topology: {type: Async, replicas: 1}, pods: {nodes: {resources: {limits: {memory: 511Mi}}}}}}`, says: "pods.nodes.resources.limits.memory is below what a server needs",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1}, pods: {nodes: {resources: {limits: {memory: 511Mi}}}}}}`,
	},
	{
		name:    "a timeout that the Zalando operator does not know",
		refused: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", primaryStartTimeoutSeconds: 0`), says: "topology.patroni.primaryStartTimeoutSeconds needs provider StatefulSet",
		neighbour: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", primaryStartTimeoutSeconds: 300`),
	},
	{
		name:    "a lag that the Zalando operator leaves out",
		refused: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", maximumLagOnFailoverBytes: 0`), says: "topology.patroni.maximumLagOnFailoverBytes must be",
		neighbour: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", maximumLagOnFailoverBytes: 1`),
	},
	{
		name:    "a lag that the Zalando operator rounds",
		refused: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", maximumLagOnFailoverBytes: 16777217`), says: "topology.patroni.maximumLagOnFailoverBytes must be",
		neighbour: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", maximumLagOnFailoverBytes: 16777216`),
	},
	{
		name:    "a lag that is Patroni's own to keep",
		refused: ofPatroni(`provider: ZalandoOperator, synchronousMode: "On", maximumLagOnFailoverBytes: 1099511627776`), says: "topology.patroni.maximumLagOnFailoverBytes must be",
		neighbour: ofPatroni(`synchronousMode: "On", maximumLagOnFailoverBytes: 0`),
	},
	{
		name:    "a limit that the Zalando operator is not told of",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, resources: {limits: {cpu: 1, ephemeral-storage: 1Gi}}, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`, says: "topology.resources must be of cpu and memory alone",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, resources: {limits: {cpu: 1, memory: 1Gi}}, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`,
	},
	{
		name:    "a request that the Zalando operator is not told of",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, resources: {requests: {ephemeral-storage: 1Gi}}, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`, says: "topology.resources must be of cpu and memory alone",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, resources: {requests: {ephemeral-storage: 1Gi}}, patroni: {provider: StatefulSet, synchronousMode: "On"}}}}`,
	},
	{
		name:    "a medium that the Zalando operator does not know",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, storage: {medium: Node}, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`, says: "topology.storage.medium must be VolumeClaim",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, storage: {medium: VolumeClaim}, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`,
	},
	{
		name:    "links between nodes of the Zalando operator",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1]}], links: [{from: eu, to: us, roundTripMilliseconds: 50}], patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`, says: "topology.links need agents that may change the network",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, zones: [{name: eu, nodes: [0]}, {name: us, nodes: [1]}], links: [{from: eu, to: us, roundTripMilliseconds: 50}], patroni: {provider: StatefulSet, synchronousMode: "On"}}}}`,
	},
	{
		name:    "settings of pods that the Zalando operator makes",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {nodes: {labels: {a: b}}}}}`, says: "pods.nodes cannot be set with topology.patroni.provider ZalandoOperator",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {all: {labels: {a: b}}}}}`,
	},
	{
		name:    "pods that are spread, and the Zalando operator is not told",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {all: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}}}`, says: "pods.all cannot have podAffinity",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: StatefulSet, synchronousMode: "On"}}, pods: {all: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}}}`,
	},
	{
		name:    "pods that are to be together, and the Zalando operator is not told",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {all: {affinity: {podAffinity: {}}}}}}`, says: "pods.all cannot have podAffinity",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {instruments: {affinity: {podAffinity: {}}}}}}`,
	},
	{
		name:    "pods that are kept apart, and the Zalando operator is not told",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {all: {affinity: {podAntiAffinity: {}}}}}}`, says: "pods.all cannot have podAffinity",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}, pods: {all: {affinity: {nodeAffinity: {}}}}}}`,
	},
	{
		name:    "a goal for commits that never wait",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, patroni: {synchronousMode: "Off"}}, goals: [{metric: unacknowledgedCommits, max: 0}]}}`, says: "goals[] is measured with topology.type SemiSync, and",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2}, goals: [{metric: unacknowledgedCommits, max: 0}]}}`,
	},
	{
		name:    "a server that is killed alone, and held",
		refused: onPatroni(``, `atSeconds: 10, target: Primary, action: KillServer, holdSeconds: 5`), says: "faults[].holdSeconds must be 0 for action KillServer", names: "other",
		neighbour: onPatroni(``, `atSeconds: 10, target: Primary, action: KillServer, holdSeconds: 0`),
	},
	{
		name:    "a server that is killed alone, which nobody starts again",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: KillServer`), says: "faults[].action KillServer needs a manager", names: "other",
		neighbour: ofTwo(`{type: Async, replicas: 2, engine: PostgreSQL}`, `atSeconds: 10, target: Primary, action: KillServer`),
	},
	{
		name:    "a partition from a store that nobody asks",
		refused: ofTwo(`{type: Async, replicas: 2}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Store, holdSeconds: 5`), says: "faults[].partitionFrom Store needs nodes that decide", names: "other",
		neighbour: ofTwo(`{type: Patroni, replicas: 2}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Store, holdSeconds: 5`),
	},
	{
		name:    "the only node without its store until the audit is done",
		refused: ofTwo(`{type: Single, engine: PostgreSQL}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Store, holdSeconds: -1`), says: "faults[].partitionFrom Store needs an end", names: "other",
		neighbour: ofTwo(`{type: Single, engine: PostgreSQL}`, `atSeconds: 10, target: Primary, action: Partition, partitionFrom: Store, holdSeconds: 5`),
	},
	{
		name:    "a partition from the store in one from everyone",
		refused: onPatroni(``, `atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Everyone, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Store, holdSeconds: 1`), says: "faults[].atSeconds is while an earlier fault still holds", names: "last",
		neighbour: onPatroni(``, `atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 10}, {name: last, atSeconds: 6, target: Node, node: 0, action: Partition, partitionFrom: Store, holdSeconds: 1`),
	},
	{
		name:    "a switchover to nodes that cannot take the lock",
		refused: onPatroni(``, `atSeconds: 10, target: Primary, action: Switchover}, {name: away, atSeconds: 5, target: AllReplicas, action: Partition, partitionFrom: Store, holdSeconds: 10`), says: "faults[].action Switchover needs another node that may take over, and faults hold", names: "other",
		neighbour: onPatroni(``, `atSeconds: 15, target: Primary, action: Switchover}, {name: away, atSeconds: 5, target: AllReplicas, action: Partition, partitionFrom: Store, holdSeconds: 10`),
	},
	{
		name:    "a server that is stopped while Patroni is paused",
		refused: `{spec: {topology: {type: Async, replicas: 2, engine: PostgreSQL, failover: None}, faults: [{name: fine, atSeconds: 3, target: Primary, action: Pause, holdSeconds: 1}, {name: other, atSeconds: 10, target: Replica, action: Kill}]}}`, says: "faults[].action must be another one with topology.failover None", names: "other",
		neighbour: `{spec: {topology: {type: Async, replicas: 2, engine: PostgreSQL, failover: None}, faults: [{name: fine, atSeconds: 3, target: Primary, action: Pause, holdSeconds: 1}, {name: other, atSeconds: 10, target: Replica, action: Pause, holdSeconds: 1}]}}`,
	},
	{
		name:    "a fault that nobody can carry out in the Zalando operator's pods",
		refused: onPatroni(`, patroni: {provider: ZalandoOperator, synchronousMode: "On"}`, `atSeconds: 10, target: Primary, action: Kill`), says: "faults[].action cannot be done to pods of the Zalando operator", names: "other",
		neighbour: onPatroni(`, patroni: {provider: ZalandoOperator, synchronousMode: "On"}`, `atSeconds: 10, target: Primary, action: DeletePod`),
	},
	{
		name:    "a hold that nobody keeps up in the Zalando operator's pods",
		refused: onPatroni(`, patroni: {provider: ZalandoOperator, synchronousMode: "On"}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 5`), says: "faults[].action cannot be done to pods of the Zalando operator", names: "other",
		neighbour: onPatroni(`, patroni: {provider: ZalandoOperator, synchronousMode: "On"}`, `atSeconds: 10, target: Primary, action: DeletePod, holdSeconds: 0`),
	},
	{
		name:    "a volume of which the log takes more than there is",
		refused: `{spec: {topology: {type: Single, engine: PostgreSQL, storage: {size: 1100Mi}}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {topology: {type: Single, storage: {size: 1100Mi}}}}`,
	},
	{
		name:    "a volume of which Patroni's log takes more than there is, unless it is to take less",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, storage: {size: 512Mi}}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, storage: {size: 512Mi}, parameters: {max_wal_size: 256MB}}}}`,
	},
	{
		name:    "a volume of which the log is to take even more",
		refused: `{spec: {topology: {type: Patroni, replicas: 2, storage: {size: 512Mi}, parameters: {max_wal_size: 4GB}}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 2, storage: {size: 512Mi}, parameters: {max_wal_size: 256MB}}}}`,
	},
}
