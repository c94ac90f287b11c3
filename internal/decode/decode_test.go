package decode

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
)

// fromYAML reads an object as a client does, whose integers are int64.
func fromYAML(text string, u *unstructured.Unstructured) error {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, &u.Object)
}

func TestErrorsNameTheField(t *testing.T) {
	for name, c := range map[string]struct{ object, field, why string }{
		"a quantity":        {`{spec: {topology: {resources: {limits: {cpu: 1, ephemeral-storage: "1e1.5"}}}}}`, "spec.topology.resources.limits.ephemeral-storage", "quantities must match"},
		"an endless one":    {`{spec: {pods: {all: {resources: {requests: {cpu: "1e-99999999"}}}}}}`, "spec.pods.all.resources.requests.cpu", "exponent"},
		"an endless size":   {`{spec: {topology: {storage: {size: "1e2147483648"}}}}`, "spec.topology.storage.size", "exponent"},
		"a long one":        {`{spec: {topology: {storage: {size: "` + strings.Repeat("1", 65) + `"}}}}`, "spec.topology.storage.size", "64 characters"},
		"a large number":    {`{spec: {app: {replicas: 3000000000}}}`, "spec.app.replicas", "int32"},
		"in a list":         {`{spec: {pods: {all: {topologySpreadConstraints: [{maxSkew: 3000000000}]}}}}`, "spec.pods.all.topologySpreadConstraints", "int32"},
		"a time":            {`{status: {loadStartTime: "2026-01-01T00:00:00Z"}}`, "status.loadStartTime", "cannot parse"},
		"two, of one field": {`{spec: {topology: {resources: {limits: {a: "1e1.5", b: "1e1.5"}}}}}`, "spec.topology.resources.limits", "quantities must match"},
		"two fields":        {`{spec: {suspend: 1}, status: {phase: 1}}`, "", "cannot unmarshal"},
	} {
		u := &unstructured.Unstructured{}
		if err := fromYAML(c.object, u); err != nil {
			t.Fatal(err)
		}
		err := Experiment(u, &v1alpha1.ReplicationExperiment{})
		var failed *Error
		if !errors.As(err, &failed) || failed.Field != c.field || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want one of %s that says %s", name, err, c.field, c.why)
		}
	}
}

func TestNamesLikeQuantitiesDecode(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"pods":     map[string]any{"all": map[string]any{"labels": map[string]any{"size-of": "1e1000", "a": strings.Repeat("1", 63)}}},
		"topology": map[string]any{"storage": map[string]any{"size": "1e10"}},
	}}}
	if err := Experiment(u, &v1alpha1.ReplicationExperiment{}); err != nil {
		t.Error(err)
	}
}
