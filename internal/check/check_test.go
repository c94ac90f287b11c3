package check

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
