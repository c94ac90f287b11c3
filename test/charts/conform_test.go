package charts_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"

	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// The CRDs of the Prometheus operator that kube-prometheus-stack of charts/replab-stack installs.
const (
	prometheusOperator    = "github.com/prometheus-operator/prometheus-operator@v0.93.1"
	prometheusOperatorSum = "h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY="
)

// everything that values can switch on.
const everything = "podDisruptionBudget.enabled=true,networkPolicy.ingress.enabled=true,networkPolicy.egress.enabled=true,rbac.zalandoOperator=true,rbac.k6Operator=true,metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboards.enabled=true,metrics.secure=true"

// TestManifestsConform holds what is rendered against the schemas of the API server's own, of the Prometheus operator's CRDs, and of replab's.
func TestManifestsConform(t *testing.T) {
	schemas := t.TempDir()
	writeServerSchemas(t, schemas)
	for _, crd := range prometheusCRDs(t) {
		writeCRDSchema(t, schemas, crd)
	}
	writeCRDSchema(t, schemas, experiment.CRD(t))
	for name, args := range map[string][]string{
		"defaults":           nil,
		"everything":         {"--set", everything},
		"some namespaces":    {"--set", everything + ",watchNamespaces={team-a},rbac.aggregate=false"},
		"own pods' settings": {"--values", ownSettings(t)},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := helm(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			conforms(t, schemas, out)
		})
	}
	for _, folder := range []string{"default", "zalando", "k6operator"} {
		t.Run("config/"+folder, func(t *testing.T) {
			out, err := run(kubectlBinary(t), "kustomize", filepath.Join(kubetest.Root(), "config", folder))
			if err != nil {
				t.Fatal(err)
			}
			conforms(t, schemas, out)
		})
	}
	t.Run("a misspelt field", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "wrong.yaml")
		written(t, file, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {maxUnavailible: 1}\n")
		if out, err := kubeconform(t, schemas, file); err == nil || !strings.Contains(out, "maxUnavailible") {
			t.Errorf("%v: %s; want a word on maxUnavailible", err, out)
		}
	})
}

// ownSettings fills in what is empty by default.
func ownSettings(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	written(t, file, `
imagePullSecrets: [{name: pull}]
serviceAccount: {annotations: {a: b}}
podAnnotations: {a: b}
podLabels: {a: b}
nodeSelector: {a: b}
tolerations: [{key: a, operator: Exists, effect: NoSchedule}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
priorityClassName: high
networkPolicy:
  ingress: {enabled: true, metricsFrom: [{namespaceSelector: {matchLabels: {a: b}}, podSelector: {matchLabels: {a: b}}}]}
  egress: {enabled: true, apiServerCIDRs: [10.0.0.1/32]}
podDisruptionBudget: {enabled: true, maxUnavailable: 50%}
`)
	return file
}

func conforms(t *testing.T, schemas string, manifests []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	written(t, file, string(manifests))
	if out, err := kubeconform(t, schemas, file); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func kubeconform(t *testing.T, schemas, file string) (string, error) {
	t.Helper()
	built, _ := filepath.Glob(filepath.Join(kubetest.Root(), "bin", "kubeconform-*"))
	binary := need(t, "kubeconform", "REPLAB_REQUIRE_KUBECONFORM", append([]string{os.Getenv("REPLAB_KUBECONFORM")}, built...))
	out, err := exec.Command(binary, "-strict", "-schema-location", filepath.Join(schemas, "{{.ResourceKind}}{{.KindSuffix}}.json"), file).CombinedOutput()
	return string(out), err
}

// writeServerSchemas writes a schema for each kind that the API server knows.
func writeServerSchemas(t *testing.T, folder string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.RESTClient().Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Definitions map[string]any }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	strict(document.Definitions)
	for name, definition := range document.Definitions {
		kinds, _ := definition.(map[string]any)["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // parts of others, and what comes in each group
		}
		kind := kinds[0].(map[string]any)
		ref := "#/definitions/" + name
		writeSchema(t, folder, kind["group"].(string), kind["version"].(string), kind["kind"].(string),
			map[string]any{"$ref": ref, "definitions": reachable(document.Definitions, definition, name)})
	}
}

// prometheusCRDs are fetched with the Go module that has them.
func prometheusCRDs(t *testing.T) (all []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", prometheusOperator)
	cmd.Dir = t.TempDir() // of no module, whose go.mod would get it
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || err != nil || module.Sum != prometheusOperatorSum {
		t.Fatalf("%s: %v, %v, %s, with sum %q, want %s", prometheusOperator, err, jsonErr, module.Error, module.Sum, prometheusOperatorSum)
	}
	for _, name := range []string{"servicemonitors", "podmonitors", "prometheusrules"} {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(read(t, filepath.Join(module.Dir, "example", "prometheus-operator-crd"), "monitoring.coreos.com_"+name+".yaml"), &crd); err != nil {
			t.Fatal(err)
		}
		all = append(all, &crd)
	}
	return all
}

func writeCRDSchema(t *testing.T, folder string, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, version := range crd.Spec.Versions {
		schema, _ := fromJSON(t, toJSON(t, version.Schema.OpenAPIV3Schema)).(map[string]any)
		schema["properties"].(map[string]any)["metadata"] = map[string]any{"x-kubernetes-preserve-unknown-fields": true, "type": "object"}
		strict(schema)
		writeSchema(t, folder, crd.Spec.Group, version.Name, crd.Spec.Names.Kind, schema)
	}
}

// writeSchema under the name that kubeconform looks a kind up by.
func writeSchema(t *testing.T, folder, group, version, kind string, schema any) {
	t.Helper()
	parts := []string{strings.ToLower(kind)}
	if group != "" {
		parts = append(parts, strings.SplitN(group, ".", 2)[0])
	}
	written(t, filepath.Join(folder, strings.Join(append(parts, version), "-")+".json"), toJSON(t, schema))
}
