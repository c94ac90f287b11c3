package charts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

// A stand-in is a chart with another one's name and version, whose only object holds the values that it got. The charts of others cannot be
// fetched where there is no network: what these make of the values is not looked at here.
const standIn = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}}
data: {values.json: {{ .Values | toJson | quote }}}
`

type dependency struct{ Name, Version, Repository, Condition string }

// stack is charts/replab-stack with replab's own chart and stand-ins for the others.
func stack(t *testing.T) (folder string, others []dependency) {
	t.Helper()
	source := filepath.Join(kubetest.Root(), "charts")
	folder = filepath.Join(t.TempDir(), "replab-stack")
	copied(t, filepath.Join(source, "replab-stack"), folder)
	copied(t, filepath.Join(source, "replab"), filepath.Join(folder, "charts", "replab"))
	var chart struct{ Dependencies []dependency }
	if err := yaml.Unmarshal(read(t, folder, "Chart.yaml"), &chart); err != nil {
		t.Fatal(err)
	}
	for _, d := range chart.Dependencies {
		if d.Name == "replab" {
			continue
		}
		others = append(others, d)
		written(t, filepath.Join(folder, "charts", d.Name, "Chart.yaml"), fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", d.Name, d.Version))
		written(t, filepath.Join(folder, "charts", d.Name, "templates", "values.yaml"), standIn)
	}
	t.Logf("rendered with stand-ins for the charts of others: %v", others)
	return folder, others
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(to, "charts")); err != nil { // what was fetched for the checkout
		t.Fatal(err)
	}
}

func written(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func renderStack(t *testing.T, folder string, args ...string) (objects, error) {
	t.Helper()
	out, err := run(helmBinary(t), append([]string{"template", "replab", folder, "--namespace", "replab-system", "--kube-version", "1.34.0"}, args...)...)
	if err != nil {
		return nil, err
	}
	return parse(t, out), nil
}

func TestEachPartOfTheStackCanBeLeftOut(t *testing.T) {
	t.Parallel()
	folder, others := stack(t)
	all, err := renderStack(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{"install.replab": "Deployment replab-operator"}
	for _, d := range others {
		keys[d.Condition] = "ConfigMap " + d.Name
	}
	if len(keys) != 4 {
		t.Fatalf("conditions %v, want four", keys)
	}
	for condition := range keys {
		args := []string{"--set", condition + "=false"}
		args = append(args, map[string][]string{
			"install.prometheus":       {"--set", "replab.metrics.serviceMonitor.enabled=false,replab.metrics.podMonitor.enabled=false,replab.metrics.rules.enabled=false"},
			"install.k6Operator":       {"--set", "replab.rbac.k6Operator=false"},
			"install.postgresOperator": {"--set", "replab.rbac.zalandoOperator=false"},
		}[condition]...)
		without, err := renderStack(t, folder, args...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		for other, its := range keys {
			if all[its] == nil || (without[its] == nil) != (other == condition) {
				t.Errorf("%s: there by default: %t, with %s=false: %t", its, all[its] != nil, condition, without[its] != nil)
			}
		}
	}
}

// TestTheStackIsLinted as `make verify` does replab's chart: it needs the charts below.
func TestTheStackIsLinted(t *testing.T) {
	t.Parallel()
	folder, _ := stack(t)
	if out, err := run(helmBinary(t), "lint", "--strict", "--quiet", "--namespace", "replab-system", folder); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheStacksVersionsArePinned: a range would have what is installed depend on the day.
func TestTheStacksVersionsArePinned(t *testing.T) {
	_, others := stack(t)
	for _, d := range others {
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(d.Version) || d.Repository == "" {
			t.Errorf("%+v, want one version, and where it is", d)
		}
	}
	var own, stacked struct{ Version, AppVersion string }
	var chart struct{ Dependencies []dependency }
	for name, into := range map[string]any{"replab": &own, "replab-stack": &stacked} {
		if err := yaml.Unmarshal(read(t, filepath.Join(kubetest.Root(), "charts", name), "Chart.yaml"), into); err != nil {
			t.Fatal(err)
		}
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(kubetest.Root(), "charts", "replab-stack"), "Chart.yaml"), &chart); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own, stacked); diff != "" || chart.Dependencies[0].Version != own.Version {
		t.Errorf("the stack takes replab %s (-replab +replab-stack):\n%s", chart.Dependencies[0].Version, diff)
	}
}

// TestTheStacksPartsFitEachOther: what replab is told of the others, and these of replab.
func TestTheStacksPartsFitEachOther(t *testing.T) {
	t.Parallel()
	folder, _ := stack(t)
	all, err := renderStack(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ServiceMonitor replab-operator", "PodMonitor replab-operator-experiments", "PrometheusRule replab-operator"} {
		if all[key] == nil {
			t.Errorf("Prometheus is installed and there is no %s", key)
		}
	}
	config, _ := all["ConfigMap replab-operator-config"].Object["data"].(map[string]any)["operator.json"].(string)
	if strings.Count(config, `"namespace": "replab-system"`) != 3 {
		t.Errorf("the Zalando operator, the k6-operator and Prometheus run in replab-system, operator.json is %s", config)
	}
	for name, want := range map[string]string{
		"kube-prometheus-stack": `"scrapeNativeHistograms":true,"serviceMonitorSelectorNilUsesHelmValues":false`,
		"k6-operator":           `"namespace":{"create":false}`,
		"postgres-operator":     `"inherited_labels":["app.kubernetes.io/managed-by","replab.dev/experiment","app.kubernetes.io/component"]`,
	} {
		got, _ := all["ConfigMap "+name].Object["data"].(map[string]any)["values.json"].(string)
		if !json.Valid([]byte(got)) || !strings.Contains(got, want) {
			t.Errorf("%s gets the values %s, want them to have %s", name, got, want)
		}
	}
}

func TestTheStackRefusesWhatWouldFailLater(t *testing.T) {
	t.Parallel()
	folder, _ := stack(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--set", "replab.zalandoOperator.namespace=elsewhere"}, "Set replab.zalandoOperator.namespace=replab-system"},
		{[]string{"--set", "replab.k6Operator.namespace=elsewhere"}, "Set replab.k6Operator.namespace=replab-system, or install.k6Operator=false"},
		{[]string{"--set", "replab.metrics.prometheus.namespace=elsewhere"}, "Set replab.metrics.prometheus.namespace=replab-system, or install.prometheus=false"},
		{[]string{"--set", "install.prometheus=false"}, "replab.metrics.serviceMonitor.enabled=false"},
		{[]string{"--set", "install.prometheus=false,replab.metrics.serviceMonitor.enabled=false,replab.metrics.podMonitor.enabled=false"}, "metrics.rules.enabled=false"},
		{[]string{"--set", "install.postgresOperator=false"}, "Set replab.rbac.zalandoOperator=false, or set replab.zalandoOperator.namespace to that"},
		{[]string{"--set", "install.k6Operator=false"}, "Set replab.rbac.k6Operator=false, or set replab.k6Operator.namespace to that"},
		{[]string{"--set", "install.grafana=true"}, "'grafana'"},
		{[]string{"--set", "replab.image=x"}, "'image'"},
	} {
		if _, err := renderStack(t, folder, c.args...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("refusal of %v = %v, want one that says %q", c.args, err, c.says)
		}
	}
	for _, args := range [][]string{
		{"--set", "replab.zalandoOperator.namespace=elsewhere,install.postgresOperator=false"},
		{"--set", "replab.k6Operator.namespace=elsewhere,install.k6Operator=false"},
		{"--set", "install.prometheus=false", "--api-versions", "monitoring.coreos.com/v1"},
	} {
		if _, err := renderStack(t, folder, args...); err != nil {
			t.Errorf("%v is refused: %v", args, err)
		}
	}
}

// TestTheStackTakesNoDatabasesOfAnother: two of these operators would both work on them. That the kind is there says nothing, since Helm makes it first.
func TestTheStackTakesNoDatabasesOfAnother(t *testing.T) {
	server, binary, kubeconfig := kubetest.Client(t), helmBinary(t), kubetest.Kubeconfig(t)
	folder, _ := stack(t)
	install := func(values string) error {
		_, err := run(binary, "install", "stack", folder, "--kubeconfig", kubeconfig, "--namespace", "replab-system", "--dry-run=server",
			"--set", "install.prometheus=false,replab.metrics.serviceMonitor.enabled=false,replab.metrics.podMonitor.enabled=false,replab.metrics.rules.enabled=false,replab.crds.install=false,replab.rbac.aggregate=false,"+values)
		return err
	}
	crd := object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: postgresqls.acid.zalan.do}
spec:
  group: acid.zalan.do
  scope: Namespaced
  names: {plural: postgresqls, singular: postgresql, kind: postgresql, listKind: postgresqlList}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`)
	database := object(t, "{apiVersion: acid.zalan.do/v1, kind: postgresql, metadata: {namespace: default, name: orders}}")
	if err := server.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Delete(context.Background(), crd); err != nil {
			t.Error(err)
		}
	})
	if err := install("install.takeDatabases=false"); err != nil {
		t.Errorf("a cluster with the kind alone: %v", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // until the kind is served
		err := server.Create(t.Context(), database)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if err := install("install.takeDatabases=false"); err == nil || !strings.Contains(err.Error(), "such as default/orders. This release would take them over. Set install.postgresOperator=false") {
		t.Errorf("a cluster with a database: %v, want it refused", err)
	}
	for _, way := range []string{"install.takeDatabases=true", "install.postgresOperator=false,replab.rbac.zalandoOperator=false"} {
		if err := install(way); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
