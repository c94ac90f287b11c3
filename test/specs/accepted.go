package specs

import "maps"

func init() {
	maps.Copy(Accepted, reviewedAccepted)
	maps.Copy(Accepted, boundaryAccepted)
}

// Accepted are experiments that look wrong at first sight and are right. Each is a merge patch on minimal.
var Accepted = map[string]string{
	"an experiment of one letter":               `{metadata: {name: x}}`,
	"a name that ends like one of its objects":  `{metadata: {name: a-audit}}`,
	"a storage size as a number of bytes":       `{spec: {topology: {type: Single, storage: {size: 2147483648}}}}`,
	"a storage size with a decimal point":       `{spec: {topology: {type: Single, storage: {size: "1.5Gi"}}}}`,
	"a storage size as a power of ten":          `{spec: {topology: {type: Single, storage: {size: 2e9}}}}`,
	"fifty million users on a volume for them":  `{spec: {topology: {type: Single, storage: {size: 100Gi}}, dataset: {users: 50000000}}}`,
	"a single user":                             `{spec: {dataset: {users: 1}}}`,
	"a limit of memory with a small pool":       `{spec: {topology: {type: Single, resources: {limits: {memory: 420Mi}}, parameters: {innodb_buffer_pool_size: 32M}}}}`,
	"fractions of a processor, over the limit":  `{spec: {topology: {type: Single, resources: {requests: {cpu: "0.25"}, limits: {cpu: 250m}}}}}`,
	"a resource that is neither cpu nor memory": `{spec: {topology: {type: Single, resources: {limits: {ephemeral-storage: 4Gi}}}}}`,
	"empty resources":                           `{spec: {topology: {type: Single, resources: {}}}}`,
	"an image with a port, a tag and a digest":  `{spec: {topology: {type: Single, image: "Registry.example.com:5000/a/b_c/d__e/mysql-server:8.4.3-debian@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}}}`,
	"an image from a machine without a domain":  `{spec: {topology: {type: Single, image: "localhost/mysql"}}}`,
	"stages of a second":                        `{spec: {load: {stages: [{name: a, durationSeconds: 1, users: 1}, {name: b, durationSeconds: 1, requestsPerSecond: 1}]}}}`,
	"a discarded stage in the middle":           `{spec: {load: {stages: [{name: a, durationSeconds: 1, users: 1}, {name: b, durationSeconds: 1, users: 1, discard: true}, {name: c, durationSeconds: 1, users: 1}]}}}`,
	"one user who comes at a rate":              `{spec: {load: {stages: [{name: a, durationSeconds: 1, users: 1, spawnPerSecond: 1}]}}}`,
	"users who come faster than they are":       `{spec: {load: {stages: [{name: a, durationSeconds: 1, users: 2, spawnPerSecond: 10000}]}}}`,
	"a sweep of users, up and again": `{spec: {load: {stages: [
		{name: a0, durationSeconds: 30, users: 8, discard: true}, {name: a1, durationSeconds: 30, users: 16, discard: true}, {name: a2, durationSeconds: 30, users: 32, discard: true}, {name: a3, durationSeconds: 30, users: 64, discard: true},
		{name: a4, durationSeconds: 30, users: 128, discard: true}, {name: a5, durationSeconds: 30, users: 192, discard: true}, {name: a6, durationSeconds: 30, users: 256, discard: true}, {name: a7, durationSeconds: 30, users: 320, spawnPerSecond: 100, discard: true},
		{name: b0, durationSeconds: 30, users: 8}, {name: b1, durationSeconds: 30, users: 16}, {name: b2, durationSeconds: 30, users: 32}, {name: b3, durationSeconds: 30, users: 64},
		{name: b4, durationSeconds: 30, users: 128}, {name: b5, durationSeconds: 30, users: 192}, {name: b6, durationSeconds: 30, users: 256}, {name: b7, durationSeconds: 30, users: 320, spawnPerSecond: 100}]}}}`,
	"a load of logins alone":                    `{spec: {load: {mix: {register: 0, profile: 0, search: 0, login: 1}}}}`,
	"as many k6 pods as users":                  `{spec: {load: {parallelism: 10}}}`,
	"a script with empty and odd variables":     `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: s, key: a.js}, env: [{name: EMPTY}, {name: _replab, value: "$(HOME)"}, {name: K6, value: x}]}}}}`,
	"a goal that nothing less than 5 meets":     `{spec: {goals: [{metric: lostWrites, min: 5}]}}`,
	"a goal of exactly one value":               `{spec: {goals: [{metric: failedRequests, min: 0, max: 0}]}}`,
	"a lag before the acknowledgement":          `{spec: {topology: {type: Async, nodes: 2}, goals: [{metric: lagP50Microseconds, min: -100, max: -1}]}}`,
	"no write, and a goal that needs none":      `{spec: {load: {mix: {register: 0}}, goals: [{metric: p99Microseconds, max: 1}]}}`,
	"faults in the first and the last second":   withFault(`{name: a, atSeconds: 0, target: Primary, action: Kill}, {name: b, atSeconds: 29, target: Primary, action: Kill}`),
	"two faults in one node at one moment":      withFault(`{name: a, atSeconds: 5, target: Node, node: 0, action: Partition, partitionFrom: Peers, holdSeconds: 5}, {name: b, atSeconds: 5, target: Node, node: 0, action: Kill}`),
	"two of three nodes at one moment":          withFault(`{name: a, atSeconds: 5, target: Node, node: 1, action: Kill, holdSeconds: 5}, {name: b, atSeconds: 5, target: Node, node: 2, action: Partition, partitionFrom: Everyone, holdSeconds: 5}`),
	"two of two replicas at one moment":         withFault(`{name: a, atSeconds: 5, target: Replica, action: Kill}, {name: b, atSeconds: 5, target: Replica, action: Kill}`),
	"all nodes at one moment":                   withFault(`{name: a, atSeconds: 5, target: Node, node: 0, action: Kill}, {name: b, atSeconds: 5, target: Node, node: 1, action: Kill}, {name: c, atSeconds: 5, target: Node, node: 2, action: Kill}`),
	"all nodes by their roles":                  withFault(`{name: a, atSeconds: 5, target: Primary, action: Kill, holdSeconds: 5}, {name: b, atSeconds: 5, target: AllReplicas, action: Kill, holdSeconds: 5}`),
	"a switchover while a replica is down":      withFault(`{name: a, atSeconds: 5, target: Replica, action: Kill, holdSeconds: 20}, {name: b, atSeconds: 10, target: Primary, action: Switchover}`),
	"a switchover after a crash in a partition": withFault(`{name: a, atSeconds: 5, target: Primary, action: Partition, partitionFrom: Peers, holdSeconds: -1}, {name: b, atSeconds: 6, target: Primary, action: Kill, holdSeconds: -1}, {name: c, atSeconds: 25, target: Primary, action: Switchover}`),
	"there and back":                            withFault(`{name: a, atSeconds: 5, target: Primary, action: Switchover}, {name: b, atSeconds: 15, target: Primary, action: Switchover}`),
	"a kill in a pause":                         withFault(`{name: a, atSeconds: 5, target: Node, node: 0, action: Pause, holdSeconds: 5}, {name: b, atSeconds: 6, target: Node, node: 0, action: Kill}`),
	"a kill as soon as a hold has ended":        withFault(`{name: a, atSeconds: 5, target: Node, node: 0, action: Kill, holdSeconds: 5}, {name: b, atSeconds: 10, target: Node, node: 0, action: Kill}`),
	"a hold that outlasts the load":             withFault(`{name: a, atSeconds: 29, target: Primary, action: Kill, holdSeconds: 3600}`),
	"faults out of their order":                 withFault(`{name: late, atSeconds: 20, target: Primary, action: Kill}, {name: early, atSeconds: 5, target: Replica, action: Kill}`),
	"an experiment that is aborted at once":     `{spec: {abort: true}}`,
	"suspended and aborted":                     `{spec: {abort: true, suspend: true}}`,
	"gone as soon as it is over":                `{spec: {ttlSecondsAfterFinished: 0, keep: Always}}`,
	"a baseline that does not exist yet":        `{spec: {baseline: {name: not-there}}}`,
	"pods with nothing said about them":         `{spec: {pods: {all: {}, nodes: {}, instruments: {}}}}`,
	"pods that go where they are sent": `{spec: {pods: {
		all: {imagePullSecrets: [{name: pull}], tolerations: [{operator: Exists}], securityContext: {runAsUser: 1000650000, fsGroup: 1000650000}},
		nodes: {nodeSelector: {disk: ssd}, resources: {requests: {cpu: 2}}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}}}}`,
	"a check that is as by default, without a proxy": `{spec: {routing: {proxy: None, check: {intervalMilliseconds: 250, fall: 2, rise: 1}}}}`,
	"empty parts": `{spec: {routing: {}, app: {}, dataset: {}, probes: {}, faults: [], goals: []}}`,
}

// Malformed are refused by the schema itself: types, names and values. Each is a merge patch on minimal.
var Malformed = map[string]struct{ Patch, Field, Says string }{
	"a misspelt field":             {`{spec: {topology: {type: Single, replica: 1}}}`, "spec.topology.replica", "unknown field"},
	"a field in the wrong place":   {`{spec: {users: 5}}`, "spec.users", "unknown field"},
	"a number as a text":           {`{spec: {dataset: {users: "many"}}}`, "spec.dataset.users", "must be of type integer"},
	"half a user":                  {`{spec: {dataset: {users: 0.5}}}`, "spec.dataset.users", "must be of type integer"},
	"a type in lower case":         {`{spec: {topology: {type: single}}}`, "spec.topology.type", `supported values: "Single"`},
	"an action of another tool":    {withFault(`{name: a, atSeconds: 1, target: Primary, action: pod-kill}`), "spec.faults[0].action", `supported values: "Kill"`},
	"a metric in another unit":     {`{spec: {goals: [{metric: p99Milliseconds, max: 5}]}}`, "spec.goals[0].metric", `"p99Microseconds"`},
	"no stage":                     {`{spec: {load: {stages: []}}}`, "spec.load.stages", "at least 1 items"},
	"no load":                      {`{spec: {load: null}}`, "spec.load", "Required value"},
	"a stage without a duration":   {`{spec: {load: {stages: [{name: a, users: 1}]}}}`, "spec.load.stages[0].durationSeconds", "Required value"},
	"a stage of less than nothing": {`{spec: {load: {stages: [{name: a, durationSeconds: -5, users: 1}]}}}`, "spec.load.stages[0].durationSeconds", "greater than or equal to 1"},
	"two stages of one name":       {`{spec: {load: {stages: [{name: a, durationSeconds: 1, users: 1}, {name: a, durationSeconds: 1, users: 2}]}}}`, "spec.load.stages[1]", "Duplicate value"},
	"two faults of one name":       {withFault(`{name: a, atSeconds: 1, target: Primary, action: Kill}, {name: a, atSeconds: 2, target: Primary, action: Kill}`), "spec.faults[1]", "Duplicate value"},
	"two goals of one metric":      {`{spec: {goals: [{metric: lostWrites, max: 0}, {metric: lostWrites, max: 1}]}}`, "spec.goals[1]", "Duplicate value"},
	"two variables of one name":    {`{spec: {load: {stages: [{name: a, durationSeconds: 1}], script: {configMapKeyRef: {name: s, key: k}, env: [{name: A}, {name: A}]}}}}`, "spec.load.script.env[1]", "Duplicate value"},
	"a stage's name with a space":  {`{spec: {load: {stages: [{name: "warm up", durationSeconds: 1, users: 1}]}}}`, "spec.load.stages[0].name", "should match"},
	"a size that is none":          {`{spec: {topology: {type: Single, storage: {size: big}}}}`, "spec.topology.storage.size", "should match"},
	"a script without its key":     {`{spec: {load: {script: {configMapKeyRef: {name: s}}}}}`, "spec.load.script.configMapKeyRef.key", "Required value"},
	"a checked proxy without rest": {`{spec: {routing: {check: {intervalMilliseconds: 1}}}}`, "spec.routing.check.intervalMilliseconds", "greater than or equal to 50"},
	"a storage class of two words": {`{spec: {topology: {type: Single, storage: {className: "fast ssd"}}}}`, "spec.topology.storage.className", "should match"},
	"a priority class in capitals": {`{spec: {pods: {all: {priorityClassName: HIGH}}}}`, "spec.pods.all.priorityClassName", "should match"},
	"a baseline in capitals":       {`{spec: {baseline: {name: Single}}}`, "spec.baseline.name", "should match"},
	"a script in no ConfigMap":     {`{spec: {load: {stages: [{name: a, durationSeconds: 1}], script: {configMapKeyRef: {name: "my scripts", key: a.js}}}}}`, "spec.load.script.configMapKeyRef.name", "should match"},
	"a variable of no Secret":      {`{spec: {load: {stages: [{name: a, durationSeconds: 1}], script: {configMapKeyRef: {name: s, key: a.js}, env: [{name: A, valueFrom: {secretKeyRef: {name: "my secret", key: k}}}]}}}}`, "spec.load.script.env[0].valueFrom.secretKeyRef.name", "should match"},
	"a variable of no key":         {`{spec: {load: {stages: [{name: a, durationSeconds: 1}], script: {configMapKeyRef: {name: s, key: a.js}, env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: "a key"}}}]}}}}`, "spec.load.script.env[0].valueFrom.configMapKeyRef.key", "should match"},
	"a lifetime before the end":    {`{spec: {ttlSecondsAfterFinished: -1}}`, "spec.ttlSecondsAfterFinished", "greater than or equal to 0"},
}
