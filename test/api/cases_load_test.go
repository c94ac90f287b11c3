package api_test

// loadSenseCases are of a load that cannot be as it is asked for.
var loadSenseCases = []ruleCase{
	{
		name:    "more k6 pods than users",
		refused: `{spec: {load: {parallelism: 3, stages: [{name: steady, durationSeconds: 10, users: 2}]}}}`, says: "load.parallelism is above the users of a stage",
		neighbour: `{spec: {load: {parallelism: 3, stages: [{name: steady, durationSeconds: 10, users: 3}]}}}`,
	},
	{
		name:    "more k6 pods than requests that may be under way",
		refused: `{spec: {load: {parallelism: 3, stages: [{name: steady, durationSeconds: 10, requestsPerSecond: 100, maxUsers: 2}]}}}`, says: "load.parallelism is above the users of a stage",
		neighbour: `{spec: {load: {parallelism: 3, stages: [{name: steady, durationSeconds: 10, requestsPerSecond: 100}]}}}`,
	},
	{
		name:    "users that come at a rate to an open loop",
		refused: `{spec: {load: {stages: [{name: steady, durationSeconds: 10, requestsPerSecond: 10, spawnPerSecond: 1}]}}}`, says: "load.stages[].spawnPerSecond belongs to users",
		neighbour: `{spec: {load: {stages: [{name: steady, durationSeconds: 10, users: 10, spawnPerSecond: 1}]}}}`,
	},
	{
		name:    "users that have not all come when the stage ends",
		refused: `{spec: {load: {stages: [{name: steady, durationSeconds: 10, users: 11, spawnPerSecond: 1}]}}}`, says: "load.stages[].spawnPerSecond is so small",
		neighbour: `{spec: {load: {stages: [{name: steady, durationSeconds: 10, users: 11, spawnPerSecond: 2}]}}}`,
	},
	{
		name:    "users for a script that brings its own",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30, users: 5}], script: {configMapKeyRef: {name: scripts, key: load.js}}}}}`, says: "load.stages[] has users or requestsPerSecond, which a script of your own ignores",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}}}}}`,
	},
	{
		name:    "requests per second for a script that brings its own",
		refused: `{spec: {load: {stages: [{name: a, durationSeconds: 5}, {name: b, durationSeconds: 30, requestsPerSecond: 5}], script: {configMapKeyRef: {name: scripts, key: load.js}}}}}`, says: "load.stages[] has users or requestsPerSecond, which a script of your own ignores",
		neighbour: `{spec: {load: {stages: [{name: a, durationSeconds: 5}, {name: b, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}}}}}`,
	},
	{
		name:    "a mix for a script that ignores it",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}}, mix: {register: 5}}}}`, says: "load.mix belongs to the built-in script",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}}}}}`,
	},
	{
		name:    "a variable that replab sets",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: REPLAB_URL, value: x}]}}}}`, says: "load.script.env[] is set by replab",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: URL, value: x}]}}}}`,
	},
	{
		name:    "a variable that is k6's option",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: K6_VUS, value: "5"}]}}}}`, says: "load.script.env[] is set by replab",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: VUS, value: "5"}]}}}}`,
	},
	{
		name:    "a variable with two values",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A, value: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}}}`, says: "load.script.env[] needs either value or valueFrom",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}}}`,
	},
	{
		name:    "a value from nowhere",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A, valueFrom: {}}]}}}}`, says: "load.script.env[].valueFrom needs one of",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A, valueFrom: {configMapKeyRef: {name: s, key: k}}}]}}}}`,
	},
	{
		name:    "a value from two places",
		refused: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A, valueFrom: {configMapKeyRef: {name: s, key: k}, secretKeyRef: {name: s, key: k}}}]}}}}`, says: "load.script.env[].valueFrom needs one of",
		neighbour: `{spec: {load: {stages: [{name: own, durationSeconds: 30}], script: {configMapKeyRef: {name: scripts, key: load.js}, env: [{name: A}]}}}}`,
	},
	{
		name:    "a deadline before the end of the load",
		refused: `{spec: {deadlineSeconds: 30}}`, says: "deadlineSeconds must be above",
		neighbour: `{spec: {deadlineSeconds: 31}}`,
	},
}
