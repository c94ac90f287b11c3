package specs

// goalSenseCases are of goals that nothing could meet or measure.
var goalSenseCases = []Case{
	{
		Name:      "fewer than no lost writes",
		Refused:   `{spec: {goals: [{metric: lostWrites, max: -1}]}}`,
		Field:     "spec.goals[0].max",
		Says:      "lostWrites is never below 0, so no value meets the goal",
		Neighbour: `{spec: {goals: [{metric: lostWrites, max: 0}]}}`,
	},
	{
		Name:      "a negative least of a rate",
		Refused:   `{spec: {goals: [{metric: requestsPerSecond, min: -5}]}}`,
		Field:     "spec.goals[0].min",
		Says:      "requestsPerSecond is never below 0, so this limits nothing",
		Neighbour: `{spec: {topology: {type: Async, nodes: 2}, goals: [{metric: lagP50Microseconds, min: -5}]}}`,
	},
	{
		Name:      "lost writes of a load that only reads",
		Refused:   `{spec: {goals: [{metric: lostWrites, max: 0}], load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "the load has no writes",
		Neighbour: `{spec: {goals: [{metric: failedRequests, max: 0}], load: {mix: {register: 0}}}}`,
	},
	{
		Name:      "indeterminate writes of a load that only reads",
		Refused:   `{spec: {goals: [{metric: indeterminateWrites, max: 0}], load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "the load has no writes",
		Neighbour: `{spec: {goals: [{metric: indeterminateWrites, max: 0}], load: {mix: {register: 1}}}}`,
	},
	{
		Name:      "ghosts of a load that only reads",
		Refused:   `{spec: {goals: [{metric: ghostWrites, max: 0}], load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "the load has no writes",
		Neighbour: `{spec: {goals: [{metric: ghostWrites, max: 0}]}}`,
	},
	{
		Name:      "conflicts in a group of a load that only reads",
		Refused:   `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: certificationFailures, max: 0}], load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "the load has no writes",
		Neighbour: `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: certificationFailures, max: 0}]}}`,
	},
	{
		Name:      "flow control of a load that only reads",
		Refused:   `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: flowControlPausedPercent, max: 0}], load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "the load has no writes",
		Neighbour: `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: failedRequests, max: 0}], load: {mix: {register: 0}}}}`,
	},
	{
		Name:      "more of the time than there is",
		Refused:   `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: flowControlPausedPercent, max: 100}]}}`,
		Field:     "spec.goals[0].max",
		Says:      "100 percent is the whole, so every value meets the goal",
		Neighbour: `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: flowControlPausedPercent, max: 99}]}}`,
	},
	{
		Name:      "at least more of the time than there is",
		Refused:   `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: flowControlPausedPercent, min: 101}]}}`,
		Field:     "spec.goals[0].min",
		Says:      "100 percent is the whole, so no value meets the goal",
		Neighbour: `{spec: {topology: {type: Galera, nodes: 3}, goals: [{metric: certificationFailures, max: 1001}]}}`,
	},
	{
		Name:      "stale reads of a load that does not read",
		Refused:   `{spec: {goals: [{metric: staleReads, max: 0}], load: {mix: {profile: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "no registered user is read",
		Neighbour: `{spec: {goals: [{metric: staleReads, max: 0}]}}`,
	},
	{
		Name:      "dropped iterations of a closed loop",
		Refused:   `{spec: {goals: [{metric: droppedIterations, max: 0}]}}`,
		Field:     "spec.goals[0].metric",
		Says:      "only an open loop drops requests",
		Neighbour: `{spec: {goals: [{metric: droppedIterations, max: 0}], load: {stages: [{name: open, durationSeconds: 5, requestsPerSecond: 5}]}}}`,
	},
	{
		Name:      "an outage that nothing could see",
		Refused:   `{spec: {goals: [{metric: outageMilliseconds, max: 0}], probes: {availability: {intervalMilliseconds: 0}}, load: {mix: {register: 0}}}}`,
		Field:     "spec.goals[0].metric",
		Says:      "no write could fail",
		Neighbour: `{spec: {goals: [{metric: outageMilliseconds, max: 0}], load: {mix: {register: 0}}}}`,
	},
}
