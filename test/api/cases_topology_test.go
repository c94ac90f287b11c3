package api_test

// topologySenseCases are of a topology that cannot work as it is asked for.
var topologySenseCases = []ruleCase{
	{
		name:    "a volume of less than nothing",
		refused: `{spec: {topology: {type: Single, storage: {size: "-1Gi"}}}}`, says: "topology.storage.size is too small",
		neighbour: `{spec: {topology: {type: Single, storage: {size: 1Gi}}}}`,
	},
	{
		name:    "a volume of a million bytes, written as a number",
		refused: `{spec: {topology: {type: Single, storage: {size: 1000000}}}}`, says: "topology.storage.size is too small",
		neighbour: `{spec: {topology: {type: Single, storage: {size: 1000000000}}}}`,
	},
	{
		name:    "memory as a volume that no server fits into",
		refused: `{spec: {topology: {type: Single, storage: {medium: Memory, size: 511Mi}}}}`, says: "topology.storage.size is too small",
		neighbour: `{spec: {topology: {type: Single, storage: {medium: Memory, size: 512Mi}}}}`,
	},
	{
		name:    "users that do not fit into the volume",
		refused: `{spec: {dataset: {users: 2000000}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {dataset: {users: 2000000}, topology: {type: Single, storage: {size: 4Gi}}}}`,
	},
	{
		name:    "a volume that is too small for the users",
		refused: `{spec: {dataset: {users: 100000}, topology: {type: Single, storage: {size: 512Mi}}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {dataset: {users: 50000}, topology: {type: Single, storage: {size: 512Mi}}}}`,
	},
	{
		name:    "users that do not fit beside a member's write sets",
		refused: `{spec: {dataset: {users: 50000}, topology: {type: Galera, replicas: 2, storage: {size: 560Mi}}}}`, says: "dataset.users does not fit into topology.storage.size",
		neighbour: `{spec: {dataset: {users: 50000}, topology: {type: Galera, replicas: 2, storage: {size: 600Mi}}}}`,
	},
	{
		name:    "a claim of a device",
		refused: `{spec: {topology: {type: Single, resources: {claims: [{name: gpu}]}}}}`, says: "topology.resources.claims is not supported",
		neighbour: `{spec: {topology: {type: Single, resources: {claims: []}}}}`,
	},
	{
		name:    "a negative request",
		refused: `{spec: {topology: {type: Single, resources: {requests: {cpu: "-1"}}}}}`, says: "topology.resources has a negative request",
		neighbour: `{spec: {topology: {type: Single, resources: {requests: {cpu: "1"}}}}}`,
	},
	{
		name:    "a limit of no processor",
		refused: `{spec: {topology: {type: Single, resources: {limits: {cpu: 0}}}}}`, says: "topology.resources has a negative request",
		neighbour: `{spec: {topology: {type: Single, resources: {limits: {cpu: 1}}}}}`,
	},
	{
		name:    "a request above its limit",
		refused: `{spec: {topology: {type: Single, resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}}}`, says: "topology.resources.requests must not exceed",
		neighbour: `{spec: {topology: {type: Single, resources: {requests: {memory: 1Gi}, limits: {memory: 1Gi}}}}}`,
	},
	{
		name:    "processors above their limit",
		refused: `{spec: {topology: {type: Single, resources: {requests: {cpu: 1500m}, limits: {cpu: 1}}}}}`, says: "topology.resources.requests must not exceed",
		neighbour: `{spec: {topology: {type: Single, resources: {requests: {cpu: 500m}, limits: {cpu: 1}}}}}`,
	},
	{
		name:    "less memory than a server needs",
		refused: `{spec: {topology: {type: Single, resources: {limits: {memory: 256Mi}}}}}`, says: "topology.resources.limits.memory is below what the server needs",
		neighbour: `{spec: {topology: {type: Single, resources: {limits: {memory: 512Mi}}}}}`,
	},
	{
		name:    "bytes that were meant to be mebibytes",
		refused: `{spec: {topology: {type: Single, resources: {limits: {memory: 512}}}}}`, says: "topology.resources.limits.memory is below what the server needs",
		neighbour: `{spec: {topology: {type: Single, resources: {limits: {memory: 536870912}}}}}`,
	},
	{
		name:    "less memory than its buffer pool needs",
		refused: `{spec: {topology: {type: Single, resources: {limits: {memory: 1Gi}}, parameters: {innodb_buffer_pool_size: 1G}}}}`, says: "topology.resources.limits.memory is below what the server needs",
		neighbour: `{spec: {topology: {type: Single, resources: {limits: {memory: 1Gi}}, parameters: {innodb_buffer_pool_size: 512M}}}}`,
	},
	{
		name:    "less memory than its buffer pool needs, written with hyphens and in bytes",
		refused: `{spec: {topology: {type: Single, resources: {limits: {memory: 1Gi}}, parameters: {innodb-buffer-pool-size: "1073741824"}}}}`, says: "topology.resources.limits.memory is below what the server needs",
		neighbour: `{spec: {topology: {type: Single, resources: {limits: {memory: 448Mi}}, parameters: {innodb-buffer-pool-size: "67108864"}}}}`,
	},
	{
		name:    "a server image with a scheme",
		refused: `{spec: {topology: {type: Single, image: "https://example.com/mysql:8"}}}`, says: "image is not the name of an image",
		neighbour: `{spec: {topology: {type: Single, image: "example.com/mysql:8"}}}`,
	},
	{
		name:    "a server image with a space",
		refused: `{spec: {topology: {type: Single, image: "mysql 8"}}}`, says: "image is not the name of an image",
		neighbour: `{spec: {topology: {type: Single, image: "mysql:8"}}}`,
	},
	{
		name:    "a server image in capitals",
		refused: `{spec: {topology: {type: Single, image: MySQL}}}`, says: "image is not the name of an image",
		neighbour: `{spec: {topology: {type: Single, image: ""}}}`,
	},
	{
		name:    "an image of k6 with an empty tag",
		refused: `{spec: {load: {image: "k6:"}}}`, says: "image is not the name of an image",
		neighbour: `{spec: {load: {image: "k6:v1"}}}`,
	},
	{
		name:    "an image of the app with a digest that is cut off",
		refused: `{spec: {app: {image: "app@sha256:abc"}}}`, says: "image is not the name of an image",
		neighbour: `{spec: {app: {image: "app@sha256:0123456789012345678901234567890123456789012345678901234567890123"}}}`,
	},
	{
		name:    "a lock that is shorter than the loop that keeps it",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {ttlSeconds: 20}}}}`, says: "topology.patroni.ttlSeconds must be",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {ttlSeconds: 30}}}}`,
	},
	{
		name:    "a quorum with the Zalando operator",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator}}}}`, says: "topology.patroni.synchronousMode Quorum needs",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: ZalandoOperator, synchronousMode: "On"}}}}`,
	},
	{
		name:    "strictly asynchronous",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {strict: true, synchronousMode: "Off"}}}}`, says: "topology.patroni.strict needs",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {strict: true, synchronousMode: "On"}}}}`,
	},
	{
		name:    "writes to all nodes of one primary",
		refused: `{spec: {routing: {writes: All}}}`, says: "routing.writes All needs",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, routing: {writes: All}}}`,
	},
	{
		name:    "checks of no proxy",
		refused: `{spec: {routing: {proxy: None, check: {fall: 3}}}}`, says: "routing.check belongs to a proxy",
		neighbour: `{spec: {routing: {proxy: HAProxy, check: {fall: 3}}}}`,
	},
	{
		name:    "resources of the server in two places",
		refused: `{spec: {topology: {type: Single, resources: {limits: {cpu: 1}}}, pods: {nodes: {resources: {limits: {cpu: 2}}}}}}`, says: "pods.nodes.resources and topology.resources are the same",
		neighbour: `{spec: {topology: {type: Single, resources: {}}, pods: {nodes: {resources: {limits: {cpu: 2}}}}}}`,
	},
	{
		name:    "less memory than a server needs, said of its pod",
		refused: `{spec: {pods: {nodes: {resources: {limits: {memory: 511Mi}}}}}}`, says: "pods.nodes.resources.limits.memory is below what a server needs",
		neighbour: `{spec: {pods: {nodes: {resources: {limits: {memory: 512Mi}}}}}}`,
	},
	{
		name:    "a claim of a device for the instruments",
		refused: `{spec: {pods: {instruments: {resources: {claims: [{name: gpu}]}}}}}`, says: "pods resources.claims is not supported",
		neighbour: `{spec: {pods: {instruments: {resources: {}}}}}`,
	},
	{
		name:    "pods that run as root",
		refused: `{spec: {pods: {all: {securityContext: {runAsUser: 0}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {runAsUser: 1}}}}}`,
	},
	{
		name:    "pods that may run as root",
		refused: `{spec: {pods: {all: {securityContext: {runAsNonRoot: false}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {runAsNonRoot: true}}}}}`,
	},
	{
		name:    "system calls without a filter",
		refused: `{spec: {pods: {all: {securityContext: {seccompProfile: {type: Unconfined}}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {seccompProfile: {type: RuntimeDefault}}}}}}`,
	},
	{
		name:    "settings of the kernel",
		refused: `{spec: {pods: {all: {securityContext: {sysctls: [{name: net.core.somaxconn, value: "1"}]}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {supplementalGroups: [5]}}}}}`,
	},
}
