package api_test

// podsSenseCases are of pods that no cluster would have, or that would not live.
var podsSenseCases = []ruleCase{
	{
		name:    "processes with another SELinux type than a container's",
		refused: `{spec: {pods: {all: {securityContext: {seLinuxOptions: {type: spc_t}}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {seLinuxOptions: {type: container_t, level: "s0:c1,c2"}}}}}}`,
	},
	{
		name:    "processes of an SELinux role",
		refused: `{spec: {pods: {nodes: {securityContext: {seLinuxOptions: {role: system_r}}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {nodes: {securityContext: {seLinuxOptions: {level: s0}}}}}}`,
	},
	{
		name:    "processes of the host, on Windows",
		refused: `{spec: {pods: {all: {securityContext: {windowsOptions: {hostProcess: true}}}}}}`, says: "pods securityContext cannot leave",
		neighbour: `{spec: {pods: {all: {securityContext: {fsGroup: 5}}}}}`,
	},
	{
		name:    "less than no memory for the instruments",
		refused: `{spec: {pods: {instruments: {resources: {limits: {memory: "-1"}}}}}}`, says: "pods resources has a negative request",
		neighbour: `{spec: {pods: {instruments: {resources: {limits: {memory: 1Gi}}}}}}`,
	},
	{
		name:    "less than no processor for the nodes",
		refused: `{spec: {pods: {nodes: {resources: {requests: {cpu: "-1"}}}}}}`, says: "pods resources has a negative request",
		neighbour: `{spec: {pods: {nodes: {resources: {requests: {cpu: "0"}}}}}}`,
	},
	{
		name:    "an instrument that asks for more than it may have",
		refused: `{spec: {pods: {instruments: {resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}}}}`, says: "pods resources.requests must not exceed",
		neighbour: `{spec: {pods: {instruments: {resources: {requests: {memory: 1Gi}, limits: {memory: 1Gi}}}}}}`,
	},
	{
		name:    "data in memory that their server may not have",
		refused: `{spec: {topology: {type: Single, storage: {medium: Memory, size: 2Gi}, resources: {limits: {memory: 2Gi}}}}}`, says: "topology.resources.limits.memory must hold",
		neighbour: `{spec: {topology: {type: Single, storage: {medium: Memory, size: 2Gi}, resources: {limits: {memory: 2432Mi}}}}}`,
	},
	{
		name:    "data in memory that their pod may not have",
		refused: `{spec: {topology: {type: Single, storage: {medium: Memory}}, pods: {nodes: {resources: {limits: {memory: 1Gi}}}}}}`, says: "pods.nodes.resources.limits.memory must hold",
		neighbour: `{spec: {topology: {type: Single, storage: {medium: Node}}, pods: {nodes: {resources: {limits: {memory: 1Gi}}}}}}`,
	},
	{
		name:    "an operator that tolerations do not know",
		refused: `{spec: {pods: {all: {tolerations: [{operator: In, key: a}]}}}}`, says: "pods tolerations have an operator or an effect",
		neighbour: `{spec: {pods: {all: {tolerations: [{operator: Equal, key: a}]}}}}`,
	},
	{
		name:    "an effect that taints do not have",
		refused: `{spec: {pods: {all: {tolerations: [{key: a, effect: Never}]}}}}`, says: "pods tolerations have an operator or an effect",
		neighbour: `{spec: {pods: {all: {tolerations: [{key: a, effect: NoExecute}]}}}}`,
	},
	{
		name:    "a value that merely exists",
		refused: `{spec: {pods: {all: {tolerations: [{key: a, operator: Exists, value: b}]}}}}`, says: "pods tolerations must have a key",
		neighbour: `{spec: {pods: {all: {tolerations: [{key: a, operator: Exists}]}}}}`,
	},
	{
		name:    "a toleration of nothing",
		refused: `{spec: {pods: {all: {tolerations: [{value: b}]}}}}`, says: "pods tolerations must have a key",
		neighbour: `{spec: {pods: {all: {tolerations: [{key: a, value: b}]}}}}`,
	},
	{
		name:    "a pull secret without a name",
		refused: `{spec: {pods: {all: {imagePullSecrets: [{name: ""}]}}}}`, says: "pods imagePullSecrets must name",
		neighbour: `{spec: {pods: {all: {imagePullSecrets: [{name: a.b}]}}}}`,
	},
	{
		name:    "a sweep of a probe that is turned off",
		refused: `{spec: {topology: {type: Async, replicas: 1}, probes: {lag: {intervalMilliseconds: 0, sweepPayloadBytes: [1, 2]}}}}`, says: "probes.lag.sweepPayloadBytes needs replicas",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, probes: {lag: {sweepPayloadBytes: [1, 2]}}}}`,
	},
	{
		name:    "a sweep that nobody receives",
		refused: `{spec: {probes: {lag: {sweepPayloadBytes: [1, 2]}}}}`, says: "probes.lag.sweepPayloadBytes needs replicas",
		neighbour: `{spec: {probes: {lag: {sweepPayloadBytes: []}}}}`,
	},
}
