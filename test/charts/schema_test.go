package charts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

func TestSchemaRefusesWrongValues(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		args    []string
		says    string
		allowed []string
	}{
		{"a value that does not exist", []string{"--set", "image.tag=1"}, "'image'", []string{"--set", "images.replab=replab:1"}},
		{"an image that does not exist", []string{"--set", "images.postgres=postgres"}, "'postgres'", []string{"--set", "images.mysql=mysql"}},
		{"an empty image", []string{"--set", "images.mysql="}, "images/mysql", []string{"--set", "images.mysql=m"}},
		{"an unknown pull policy", []string{"--set", "images.pullPolicy=Sometimes"}, "'Always', 'IfNotPresent', 'Never'", []string{"--set", "images.pullPolicy=Always"}},
		{"an unknown order of experiments", []string{"--set", "oneAtATime=Yes"}, "'Always', 'Never', 'SingleNode'", []string{"--set", "oneAtATime=Always"}},
		{"a domain that is none", []string{"--set", "clusterDomain=.cluster.local"}, "clusterDomain", []string{"--set", "clusterDomain=example.org"}},
		{"a number as text", []string{"--set-string", "replicas=1"}, "replicas", []string{"--set", "replicas=1"}},
		{"several operators without leader election", []string{"--set", "replicas=2,leaderElection=false"}, "leaderElection", []string{"--set", "replicas=2,leaderElection=true"}},
		{"an interval that is none", []string{"--set", "metrics.serviceMonitor.interval=often"}, "interval", []string{"--set", "metrics.serviceMonitor.interval=500ms"}},
		{"a budget of none", []string{"--set", "podDisruptionBudget.maxUnavailable=0"}, "maxUnavailable", []string{"--set", "podDisruptionBudget.maxUnavailable=50%"}},
		{"a peer that is none", []string{"--set", "networkPolicy.ingress.metricsFrom[0].labels.a=b"}, "metricsFrom", []string{"--set", "networkPolicy.ingress.metricsFrom[0].podSelector.matchLabels.a=b"}},
		{"an address without a mask", []string{"--set", "networkPolicy.egress.apiServerCIDRs={10.0.0.1}"}, "apiServerCIDRs", []string{"--set", "networkPolicy.egress.apiServerCIDRs={10.0.0.1/32}"}},
		{"a port that is none", []string{"--set", "networkPolicy.egress.apiServerPorts={0}"}, "apiServerPorts", []string{"--set", "networkPolicy.egress.apiServerPorts={8443}"}},
		{"a setting of pods that does not exist", []string{"--set", "pods.all.imagePullSecret=a"}, "'imagePullSecret'", []string{"--set", "pods.all.imagePullSecrets[0].name=a"}},
		{"a pull secret without a name", []string{"--set", "imagePullSecrets[0].key=a"}, "imagePullSecrets", []string{"--set", "imagePullSecrets[0].name=a"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := helm(t, c.args...); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("refusal of %v = %v, want one that says %q", c.args, err, c.says)
			}
			if _, err := helm(t, c.allowed...); err != nil {
				t.Errorf("%v is refused: %v", c.allowed, err)
			}
		})
	}
}

func TestValuesAndSchemaNameTheSameSettings(t *testing.T) {
	folder := filepath.Join(kubetest.Root(), "charts", "replab")
	var values, schema map[string]any
	if err := yaml.Unmarshal(read(t, folder, "values.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read(t, folder, "values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	inValues, inSchema := valuePaths("", values), schemaPaths("", schema)
	same := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".") } // either may say less of what is below
	for _, path := range inValues {
		if !slices.ContainsFunc(inSchema, func(s string) bool { return same(path, s) }) {
			t.Errorf("values.yaml has %s, values.schema.json does not", path)
		}
	}
	for _, path := range inSchema {
		if path != "global" && !slices.ContainsFunc(inValues, func(v string) bool { return same(path, v) }) {
			t.Errorf("values.schema.json has %s, values.yaml does not", path)
		}
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// valuePaths are the leaves of values.yaml; an empty object is a leaf.
func valuePaths(above string, values map[string]any) []string {
	var paths []string
	for name, value := range values {
		path := strings.TrimPrefix(above+"."+name, ".")
		if below, ok := value.(map[string]any); ok && len(below) > 0 {
			paths = append(paths, valuePaths(path, below)...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// schemaPaths are the properties of the schema that have no properties below.
func schemaPaths(above string, schema map[string]any) []string {
	var paths []string
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		path := strings.TrimPrefix(above+"."+name, ".")
		below, _ := value.(map[string]any)
		if deeper := schemaPaths(path, below); len(deeper) > 0 {
			paths = append(paths, deeper...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}
