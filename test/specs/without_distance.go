package specs

// withoutDistanceCases are of stages without distance, which tell what a request takes without the links.
var withoutDistanceCases = []Case{
	{
		Name:      "a stage without distance where there is none",
		Refused:   placed(euAndUS, ``, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		Field:     "spec.load.stages",
		Says:      "distance None needs topology.links, without which no stage is at a distance",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "a stage without distance that counts",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		Field:     "spec.load.stages[0].discard",
		Says:      "a stage with distance None does not count",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "a stage without distance after one with it",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: leave, durationSeconds: 10, users: 1, discard: true}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		Field:     "spec.load.stages[1].distance",
		Says:      "stages with distance None come first, since the links are set once",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: warmup, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "a stage without distance after one that says it has it",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: leave, durationSeconds: 10, users: 1, discard: true, distance: Links}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		Field:     "spec.load.stages[1].distance",
		Says:      "stages with distance None come first, since the links are set once",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true, distance: Links}`)),
	},
	{
		Name:      "no stage in which the links are set",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		Field:     "spec.load.stages[0]",
		Says:      "the links are set in the next stage",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "a stage too short for the links to be set in",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 9, users: 1, discard: true}`)),
		Field:     "spec.load.stages[0]",
		Says:      "the links are set in the next stage",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "a script of one's own at no distance",
		Refused:   placed(euAndUS, atlantic, `, load: {script: {configMapKeyRef: {name: a, key: b}}, stages: [{name: near, durationSeconds: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, discard: true}, {name: far, durationSeconds: 10}]}`),
		Field:     "spec.load.stages",
		Says:      "distance None belongs to the built-in script",
		Neighbour: placed(euAndUS, atlantic, `, load: {script: {configMapKeyRef: {name: a, key: b}}, stages: [{name: near, durationSeconds: 1, discard: true}, {name: leave, durationSeconds: 10, discard: true}, {name: far, durationSeconds: 10}]}`),
	},
	{
		Name:      "an open loop alone to tell what a request takes",
		Refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, requestsPerSecond: 10, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		Field:     "spec.load.stages[0].requestsPerSecond",
		Says:      "the last stage with distance None shows what one request takes, so it needs a closed loop",
		Neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: warmup, durationSeconds: 1, requestsPerSecond: 10, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		Name:      "more users without distance than in a later stage",
		Refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
		Field:     "spec.load.stages[0].users",
		Says:      "the last stage with distance None has more users than stage few, so they cannot be compared",
		Neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 8, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
	},
	{
		Name:      "more users without distance than in a later stage that is discarded",
		Refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8, discard: true}]}`),
		Field:     "spec.load.stages[0].users",
		Says:      "the last stage with distance None has more users than stage few, so they cannot be compared",
		Neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 8, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8, discard: true}]}`),
	},
	{
		Name:      "crowds in the last of several stages without distance",
		Refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
		Field:     "spec.load.stages[0].users",
		Says:      "the last stage with distance None has more users than stage few, so they cannot be compared",
		Neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: warmup, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
	},
}

// stagesBeforeOneThatCounts are stages before one that counts.
func stagesBeforeOneThatCounts(stages string) string {
	return `, load: {stages: [` + stages + `, {name: far, durationSeconds: 10, users: 1}]}`
}
