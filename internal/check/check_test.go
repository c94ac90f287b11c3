package check

import (
	"fmt"
	"strings"
	"testing"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/engine/mysql"
)

// TestSpecsThatTheOperatorDoesNotRead: they are found before they are applied.
func TestSpecsThatTheOperatorDoesNotRead(t *testing.T) {
	servers := validation.Servers{v1alpha1.EngineMySQL: mysql.Server{}}
	for _, variables := range []int{1, 20} {
		x := &unstructured.Unstructured{}
		text := `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: long}
spec:
  topology: {type: Single}
  load:
    stages: [{name: steady, durationSeconds: 30}]
    script:
      configMapKeyRef: {name: s, key: a.js}
      env:
`
		for i := range variables {
			text += fmt.Sprintf("      - {name: A%d, value: %s}\n", i, strings.Repeat("a", 4000))
		}
		if err := yaml.Unmarshal([]byte(text), &x.Object); err != nil {
			t.Fatal(err)
		}
		answer, err := Experiment(t.Context(), x, servers)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(answer.Sentences(), "\n")
		if long := variables > 16; strings.Contains(got, "the operator reads 65536") != long || !long && got != "" {
			t.Errorf("%d variables: %q", variables, got)
		}
	}
}

// TestMessagesSayWhichCharactersToUse instead of a regular expression, and are short.
func TestMessagesSayWhichCharactersToUse(t *testing.T) {
	const valid = "{apiVersion: replab.dev/v1alpha1, kind: ReplicationExperiment, metadata: {name: a}, spec: {topology: {type: Single}, load: {stages: [{name: a, durationSeconds: 9, users: 1}]}}}"
	for _, c := range [][3]string{
		{"metadata: {name: a}", "metadata: {name: A_b}", `metadata.name: Invalid value: "A_b". Use lower-case letters, digits and '-', with a letter or digit first and last.`},
		{"metadata: {name: a}", "metadata: {}", "metadata.name: Required value. Set it."},
		{"metadata: {name: a}", "metadata: {name: a, labels: {'a b': c}}", `metadata.labels: Invalid value: "a b". Use letters, digits, '-', '_' and '.', with a letter or digit first and last.`},
		{"load: {stages: [{name: a, durationSeconds: 9, users: 1}]}", "", "spec.load: Required value. Set it."},
		{"stages: [{name: a", "stages: [{name: 1A", "spec.load.stages[0].name: should match a name. Use lower-case letters, digits and '-', a letter first and no '-' last."},
		{"spec: {", "spec: {goals: [{metric: lostwrites, max: 0}], ", `spec.goals[0].metric: Unsupported value: "lostwrites". Use "lostWrites".`},
		{"spec: {", "spec: {goals: [{metric: qqq, max: 0}], ", `spec.goals[0].metric: Unsupported value: "qqq". Use a value from docs/reference/api.md.`},
		{"type: Single", "type: Simple", `spec.topology.type: Unsupported value: "Simple". Use one of the supported values: "Single", "Async", "SemiSync", "DualPrimary", "Galera", "Patroni".`},
		{"type: Single", "type: Single, image: 8", "spec.topology.image: must be of type string. Put the value in quotes."},
		{"type: Single", "type: Single, image: [a]", "spec.topology.image: must be of type string. Correct the value."},
		{"spec: {", `spec: {"a\nb": 1, `, "spec.a b: unknown field. Correct its name or place, or remove it."},
	} {
		x := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(strings.Replace(valid, c[0], c[1], 1)), &x.Object); err != nil {
			t.Fatal(err)
		}
		answer, err := Experiment(t.Context(), x, validation.Servers{v1alpha1.EngineMySQL: mysql.Server{}})
		if got := strings.Join(answer.Sentences(), "\n"); err != nil || got != c[2] {
			t.Errorf("%s: %q, %v, want %q", c[1], got, err, c[2])
		}
	}
}

// TestEveryPatternHasItsWords: no regular expression of a CRD is shown.
func TestEveryPatternHasItsWords(t *testing.T) {
	var of func(s *structural.Structural)
	of = func(s *structural.Structural) {
		if s == nil {
			return
		}
		var all []string
		if v := s.ValueValidation; v != nil {
			all = append(all, v.Pattern)
			for _, some := range v.AllOf {
				all = append(all, some.Pattern)
			}
		}
		for _, pattern := range all {
			if pattern != "" && patterns[pattern] == "" {
				t.Errorf("no words for %s", pattern)
			}
		}
		for name := range s.Properties {
			of(ptr.To(s.Properties[name]))
		}
		of(s.Items)
		if s.AdditionalProperties != nil {
			of(s.AdditionalProperties.Structural)
		}
	}
	for _, load := range []func() (*definition, error){experiments, suites} {
		d, err := load()
		if err != nil {
			t.Fatal(err)
		}
		of(d.schema)
	}
}
