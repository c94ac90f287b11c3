package api_test

// goalSenseCases are of goals that nothing could meet or measure.
var goalSenseCases = []ruleCase{
	{
		name:    "fewer than no lost writes",
		refused: `{spec: {goals: [{metric: lostWrites, max: -1}]}}`, says: "goals[] has a negative limit",
		neighbour: `{spec: {goals: [{metric: lostWrites, max: 0}]}}`,
	},
	{
		name:    "a negative least of a rate",
		refused: `{spec: {goals: [{metric: requestsPerSecond, min: -5}]}}`, says: "goals[] has a negative limit",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, goals: [{metric: lagP50Microseconds, min: -5}]}}`,
	},
	{
		name:    "lost writes of a load that only reads",
		refused: `{spec: {goals: [{metric: lostWrites, max: 0}], load: {mix: {register: 0}}}}`, says: "goals[] needs writes, and the load has none",
		neighbour: `{spec: {goals: [{metric: failedRequests, max: 0}], load: {mix: {register: 0}}}}`,
	},
	{
		name:    "indeterminate writes of a load that only reads",
		refused: `{spec: {goals: [{metric: indeterminateWrites, max: 0}], load: {mix: {register: 0}}}}`, says: "goals[] needs writes, and the load has none",
		neighbour: `{spec: {goals: [{metric: indeterminateWrites, max: 0}], load: {mix: {register: 1}}}}`,
	},
	{
		name:    "ghosts of a load that only reads",
		refused: `{spec: {goals: [{metric: ghostWrites, max: 0}], load: {mix: {register: 0}}}}`, says: "goals[] needs writes, and the load has none",
		neighbour: `{spec: {goals: [{metric: ghostWrites, max: 0}]}}`,
	},
	{
		name:    "conflicts in a group of a load that only reads",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: certificationFailures, max: 0}], load: {mix: {register: 0}}}}`, says: "goals[] needs writes, and the load has none",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: certificationFailures, max: 0}]}}`,
	},
	{
		name:    "flow control of a load that only reads",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: flowControlPausedPermille, max: 0}], load: {mix: {register: 0}}}}`, says: "goals[] needs writes, and the load has none",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: failedRequests, max: 0}], load: {mix: {register: 0}}}}`,
	},
	{
		name:    "more of the time than there is",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: flowControlPausedPermille, max: 1001}]}}`, says: "goals[] has a limit above 1000",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: flowControlPausedPermille, max: 1000}]}}`,
	},
	{
		name:    "at least more of the time than there is",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: flowControlPausedPermille, min: 1001}]}}`, says: "goals[] has a limit above 1000",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}, goals: [{metric: certificationFailures, max: 1001}]}}`,
	},
	{
		name:    "stale reads of a load that does not read",
		refused: `{spec: {goals: [{metric: staleReads, max: 0}], load: {mix: {profile: 0}}}}`, says: "goals[] needs users that are registered and then read",
		neighbour: `{spec: {goals: [{metric: staleReads, max: 0}]}}`,
	},
	{
		name:    "dropped iterations of a closed loop",
		refused: `{spec: {goals: [{metric: droppedIterations, max: 0}]}}`, says: "goals[] needs an open loop",
		neighbour: `{spec: {goals: [{metric: droppedIterations, max: 0}], load: {stages: [{name: open, durationSeconds: 5, requestsPerSecond: 5}]}}}`,
	},
	{
		name:    "an outage that nothing could see",
		refused: `{spec: {goals: [{metric: outageMilliseconds, max: 0}], probes: {availability: {intervalMilliseconds: 0}}, load: {mix: {register: 0}}}}`, says: "goals[] needs writes that can fail",
		neighbour: `{spec: {goals: [{metric: outageMilliseconds, max: 0}], load: {mix: {register: 0}}}}`,
	},
}
