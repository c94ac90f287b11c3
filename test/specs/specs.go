// Package specs holds experiments that are wrong, each with the smallest change that makes it right, and experiments that look wrong and are right. Tests
// of the rules, of the API server and of `kubectl replab check` share them.
package specs

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/test/experiment"
)

// Case is a wrong spec. Both patches are merge patches on the minimal experiment.
type Case struct {
	Name    string
	Refused string
	// Field that the refusal names.
	Field string
	// Says is what the refusal says of it, or the beginning of that.
	Says string
	// Neighbour is the smallest change of Refused that keeps the rule.
	Neighbour string
}

// Cases break the rules, each in its own way.
var Cases = slices.Concat(shapeCases, runShapeCases, topologySenseCases, distanceCases, withoutDistanceCases, podsSenseCases, loadSenseCases,
	faultSenseCases, patroniCases, togetherCases, heldCases, lostCases, namedCases, goalSenseCases, reviewedCases,
	parameterCases, unplacedCases, boundaryCases, dualPrimaryCases)

// minimal is the least that a person has to write.
const minimal = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: minimal, namespace: default}
spec:
  topology: {type: Single}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
`

// With is the minimal experiment with a merge patch applied.
func With(t testing.TB, patch string) *unstructured.Unstructured {
	t.Helper()
	object := fromYAML(t, minimal)
	experiment.Merge(object, fromYAML(t, strings.ReplaceAll(patch, "\t", " ")))
	return &unstructured.Unstructured{Object: object}
}

func fromYAML(t testing.TB, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return object
}

// withFault is an experiment with replicas and one fault.
func withFault(fault string) string {
	return `{spec: {topology: {type: Async, nodes: 3}, faults: [` + fault + `]}}`
}
