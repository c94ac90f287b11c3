package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// withoutDistanceCases are of stages without distance, which tell what a request takes without the links.
var withoutDistanceCases = []ruleCase{
	{
		name:      "a stage without distance where there is none",
		refused:   placed(euAndUS, ``, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		says:      "load.stages[] with distance None needs topology.links",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "a stage without distance that counts",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		says:      "load.stages[] with distance None needs discard",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "a stage without distance after one with it",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: leave, durationSeconds: 10, users: 1, discard: true}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		says:      "load.stages[] with distance None must come first",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: warmup, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "a stage without distance after one that says it has it",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: leave, durationSeconds: 10, users: 1, discard: true, distance: Links}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		says:      "load.stages[] with distance None must come first",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true, distance: Links}`)),
	},
	{
		name:      "no stage in which the links are set",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`)),
		says:      "load.stages[] with distance None must be followed by one with discard",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "a stage too short for the links to be set in",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 9, users: 1, discard: true}`)),
		says:      "load.stages[] with distance None must be followed by one with discard",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "a script of one's own at no distance",
		refused:   placed(euAndUS, atlantic, `, load: {script: {configMapKeyRef: {name: a, key: b}}, stages: [{name: near, durationSeconds: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, discard: true}, {name: far, durationSeconds: 10}]}`),
		says:      "load.stages[] with distance None belongs to the built-in script",
		neighbour: placed(euAndUS, atlantic, `, load: {script: {configMapKeyRef: {name: a, key: b}}, stages: [{name: near, durationSeconds: 1, discard: true}, {name: leave, durationSeconds: 10, discard: true}, {name: far, durationSeconds: 10}]}`),
	},
	{
		name:      "an open loop alone to tell what a request takes",
		refused:   placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: near, durationSeconds: 1, requestsPerSecond: 10, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
		says:      "load.stages[] is the last one with distance None and needs users",
		neighbour: placed(euAndUS, atlantic, stagesBeforeOneThatCounts(`{name: warmup, durationSeconds: 1, requestsPerSecond: 10, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}`)),
	},
	{
		name:      "more users without distance than in a later stage",
		refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
		says:      "load.stages[] is the last one with distance None and has more users than a later stage",
		neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 8, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
	},
	{
		name:      "more users without distance than in a later stage that is discarded",
		refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8, discard: true}]}`),
		says:      "load.stages[] is the last one with distance None and has more users than a later stage",
		neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 8, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8, discard: true}]}`),
	},
	{
		name:      "crowds in the last of several stages without distance",
		refused:   placed(euAndUS, atlantic, `, load: {stages: [{name: near, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
		says:      "load.stages[] is the last one with distance None and has more users than a later stage",
		neighbour: placed(euAndUS, atlantic, `, load: {stages: [{name: warmup, durationSeconds: 1, users: 9, discard: true, distance: None}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 1, discard: true}, {name: far, durationSeconds: 10, users: 9}, {name: few, durationSeconds: 10, users: 8}]}`),
	},
}

// stagesBeforeOneThatCounts are stages before one that counts.
func stagesBeforeOneThatCounts(stages string) string {
	return `, load: {stages: [` + stages + `, {name: far, durationSeconds: 10, users: 1}]}`
}

// TestStagesOutOfOrderAreToldOfTheirOrderAlone: the other rules speak of the last stage without distance, which is known once these come first.
func TestStagesOutOfOrderAreToldOfTheirOrderAlone(t *testing.T) {
	others := regexp.MustCompile(`load\.stages\[[a-z]+\] (with distance None must be followed|is the last one with distance None)`)
	for _, stages := range []string{
		`{name: open, durationSeconds: 10, requestsPerSecond: 10}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}`,
		`{name: crowd, durationSeconds: 10, users: 9, discard: true}, {name: near, durationSeconds: 1, users: 1, discard: true, distance: None}, {name: few, durationSeconds: 10, users: 1}`,
	} {
		told := fmt.Sprint(dryRun(t, minimalWith(t, placed(euAndUS, atlantic, stagesBeforeOneThatCounts(stages)))))
		if !strings.Contains(told, "load.stages[near] with distance None must come first") || others.MatchString(told) {
			t.Errorf("%s: refusal = %s, want one of the order alone", stages, told)
		}
	}
}
