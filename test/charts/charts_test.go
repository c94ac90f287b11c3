package charts_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

const (
	crd      = "CustomResourceDefinition replicationexperiments.replab.dev"
	suiteCRD = "CustomResourceDefinition replicationsuites.replab.dev"
)

func TestChartAndKustomizeMakeTheSameObjects(t *testing.T) {
	t.Parallel()
	chart, bases := render(t), kustomize(t, "default")
	delete(bases, "Namespace replab-system") // of a release, Helm makes it
	for _, all := range []objects{chart, bases} {
		delete(all, crd) // TestCRDsAreTheGeneratedOnes
		delete(all, suiteCRD)
	}
	if diff := cmp.Diff(substance(t, bases), substance(t, chart)); diff != "" {
		t.Error("objects (-config/default +charts/replab):\n" + diff)
	}
}

// TestOverlaysDifferFromTheDefaultByTheirImages: `make generate` writes their operator.json.
func TestOverlaysDifferFromTheDefaultByTheirImages(t *testing.T) {
	t.Parallel()
	want := substance(t, kustomize(t, "default"))
	withoutImages(want)
	for _, overlay := range []string{"packages", "public"} {
		all := kustomize(t, overlay)
		if image := all["Deployment replab-operator"].Object["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["annotations"]; image == nil {
			t.Errorf("config/%s has no annotation that restarts the operator when the image's content changes", overlay)
		}
		got := substance(t, all)
		withoutImages(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("objects (-config/default +config/%s):\n%s", overlay, diff)
		}
	}
}

// TestPackagesNameNoPublicImage but those that Debian lacks: a default that was renamed would pass `make generate` unchanged.
func TestPackagesNameNoPublicImage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "config", "packages", "operator.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Images map[string]any }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	images := maps.Clone(file.Images)
	for _, group := range []string{"servers", "proxies"} {
		for kind, image := range file.Images[group].(map[string]any) {
			images[group+"."+kind] = image
		}
		delete(images, group)
	}
	lacking := []string{"pullPolicy", "servers.Galera/MySQL", "proxies.ProxySQL"}
	for kind, image := range images {
		if local := strings.HasPrefix(image.(string), "replab.local/"); local == slices.Contains(lacking, kind) {
			t.Errorf("images.%s is %s", kind, image)
		}
	}
}

// withoutImages leaves the kinds of images, and takes their names.
func withoutImages(found map[string]any) {
	file := found["ConfigMap replab-operator-config"].(map[string]any)["data"].(map[string]any)["operator.json"].(map[string]any)
	var blank func(map[string]any)
	blank = func(images map[string]any) {
		for kind, image := range images {
			if below, ok := image.(map[string]any); ok {
				blank(below)
			} else if kind != "pullPolicy" {
				images[kind] = ""
			}
		}
	}
	blank(file["images"].(map[string]any))
	template := found["Deployment replab-operator"].(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)
	for _, container := range template["spec"].(map[string]any)["containers"].([]any) {
		container.(map[string]any)["image"] = ""
	}
}

// substance leaves out what Helm and kustomize each add in their own way: labels, annotations, the hash in the name
// of a ConfigMap. Labels that mean something to Kubernetes stay.
func substance(t *testing.T, all objects) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, object := range all {
		object = object.DeepCopy()
		if object.GetKind() == "ConfigMap" {
			object.SetName("replab-operator-config")
			text, _, _ := unstructured.NestedString(object.Object, "data", "operator.json")
			object.Object["data"] = map[string]any{"operator.json": fromJSON(t, text)}
		}
		if object.GetKind() == "Deployment" {
			spec := object.Object["spec"].(map[string]any)
			template := spec["template"].(map[string]any)
			delete(spec, "selector")
			delete(template, "metadata")
			volumes := template["spec"].(map[string]any)["volumes"].([]any)
			volumes[0].(map[string]any)["configMap"] = map[string]any{"name": "replab-operator-config"}
		}
		labels := map[string]string{}
		for name, value := range object.GetLabels() {
			if strings.HasPrefix(name, "rbac.authorization.k8s.io/") {
				labels[name] = value
			}
		}
		object.SetLabels(labels)
		object.SetAnnotations(nil)
		found[object.GetKind()+" "+object.GetName()] = fromJSON(t, toJSON(t, object.Object))
	}
	return found
}

func TestOperatorAcceptsItsConfiguration(t *testing.T) {
	t.Parallel()
	values := []string{
		"--set", "images.replab=registry.example/replab:1", "--set", "images.mysql=registry.example/mysql:1", "--set", "images.haproxy=registry.example/haproxy:1",
		"--set", "images.k6=registry.example/k6:1", "--set", "images.pullPolicy=Always",
		"--set", "oneAtATime=Never", "--set", "workers=7", "--set", "clusterDomain=example.org", "--set", "leaderElection=false",
		"--set", "watchNamespaces={team-a}", "--set", "platformUser=true", "--set", "zalandoOperator.namespace=dbs", "--set", "zalandoOperator.podLabels.name=postgres-operator", "--set", "zalandoOperator.controllerID=experiments", "--set", "k6Operator.namespace=load", "--set", "pods.all.imagePullSecrets[0].name=pull",
	}
	text, _, err := unstructured.NestedString(render(t, values...)["ConfigMap replab-operator-config"].Object, "data", "operator.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "operator.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got wire.OperatorConfig
	if err := process.LoadConfig(file, &got); err != nil {
		t.Fatal(err)
	}
	want := wire.OperatorConfig{
		Images: wire.Images{
			Replab: "registry.example/replab:1", K6: "registry.example/k6:1", PullPolicy: "Always",
			Servers: map[string]string{"MySQL": "registry.example/mysql:1", "MariaDB": "mariadb:11.8", "PostgreSQL": "ghcr.io/zalando/spilo-17:4.0-p3", "ZalandoOperator/PostgreSQL": "ghcr.io/zalando/spilo-17:4.0-p3", "Galera/MySQL": "percona/percona-xtradb-cluster:8.4"}, Proxies: map[string]string{"HAProxy": "registry.example/haproxy:1", "ProxySQL": "proxysql/proxysql:2.7.3"},
		},
		Pods: &v1alpha1.PodsSpec{
			All:   &v1alpha1.PodSettings{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}},
			Nodes: &v1alpha1.PodSettings{}, Instruments: &v1alpha1.PodSettings{},
		},
		PlatformUser: true, ForeignOperators: map[string]wire.ForeignOperator{"K6Operator": {Namespace: "load", PodLabels: map[string]string{}}, "ZalandoOperator": {Namespace: "dbs", PodLabels: map[string]string{"name": "postgres-operator"}, ControllerID: "experiments"}}, WatchNamespaces: []string{"team-a"}, Name: "replab-operator",
		OneAtATime: wire.OneAtATimeNever, Workers: 7, ClusterDomain: "example.org", MetricsAddress: ":8443", MetricsSecure: true, HealthAddress: ":8081",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("operator.json (-want +got):\n" + diff)
	}
}

// TestValuesOfAnEarlierReleaseAreTaken: `helm upgrade --reuse-values` knows nothing of an image that came later.
func TestValuesOfAnEarlierReleaseAreTaken(t *testing.T) {
	t.Parallel()
	text, _, err := unstructured.NestedString(render(t, "--set", "images.mysqlGalera=null,images.postgresql=null,images.postgresqlZalando=null,rbac.zalandoOperator=null,zalandoOperator=null,rbac.k6Operator=null,k6Operator=null,podDisruptionBudget=null,networkPolicy=null,metrics.prometheus=null,metrics.podMonitor=null,metrics.rules=null,metrics.dashboards=null")["ConfigMap replab-operator-config"].Object, "data", "operator.json")
	if err != nil {
		t.Fatal(err)
	}
	var got wire.OperatorConfig
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"MySQL": "percona/percona-server:8.4", "MariaDB": "mariadb:11.8"}
	if diff := cmp.Diff(want, got.Images.Servers); diff != "" {
		t.Error("images.servers (-want +got):\n" + diff)
	}
}

// TestWhatLaterValuesLackIsAsByDefault: a rule without ports would let the operator out to everywhere.
func TestWhatLaterValuesLackIsAsByDefault(t *testing.T) {
	t.Parallel()
	const lacking = "networkPolicy.egress.apiServerPorts=null,podDisruptionBudget.maxUnavailable=null,metrics.dashboards.labels=null,metrics.podMonitor.interval=null,metrics.serviceMonitor.interval=null"
	if diff := cmp.Diff(render(t, "--set", everything), render(t, "--set", everything+","+lacking)); diff != "" {
		t.Error("objects (-all values +without some):\n" + diff)
	}
}

func TestCRDsAreTheGeneratedOnes(t *testing.T) {
	t.Parallel()
	all := render(t)
	for name, files := range map[string][2]string{crd: {kubetest.CRDFile(), "crd.yaml"}, suiteCRD: {kubetest.SuiteCRDFile(), "crd-suites.yaml"}} {
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		copied, err := os.ReadFile(filepath.Join(kubetest.Root(), "charts", "replab", "files", files[1]))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, copied) {
			t.Fatalf("charts/replab/files/%s is not config/crd's: run `make generate`", files[1])
		}
		var want map[string]any
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		rendered := all[name]
		if diff := cmp.Diff(want["spec"], rendered.Object["spec"]); diff != "" {
			t.Error("spec (-config/crd +chart):\n" + diff)
		}
		if rendered.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("helm uninstall would delete the %s, and with it all its objects and their results", name)
		}
	}
}

func TestEachValueHasItsEffect(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		args  []string
		gone  string // key of objects
		added string
	}{
		{name: "without the CRD", args: []string{"--set", "crds.install=false"}, gone: crd},
		{name: "without leader election", args: []string{"--set", "leaderElection=false"}, gone: "Role replab-operator-leader-election"},
		{name: "without roles for users", args: []string{"--set", "rbac.aggregate=false"}, gone: "ClusterRole replab-edit"},
		{name: "with a ServiceMonitor", args: []string{"--set", "metrics.serviceMonitor.enabled=true"}, added: "ServiceMonitor replab-operator"},
		{name: "with a budget", args: []string{"--set", "podDisruptionBudget.enabled=true"}, added: "PodDisruptionBudget replab-operator"},
		{name: "closed to others", args: []string{"--set", "networkPolicy.ingress.enabled=true"}, added: "NetworkPolicy replab-operator"},
		{name: "with another ServiceAccount", args: []string{"--set", "serviceAccount.name=other"}, gone: "ServiceAccount replab-operator", added: "ServiceAccount other"},
	}
	standard := render(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			changed := render(t, c.args...)
			if c.gone != "" && (standard[c.gone] == nil || changed[c.gone] != nil) {
				t.Errorf("%s: by default %t, with %v %t", c.gone, standard[c.gone] != nil, c.args, changed[c.gone] != nil)
			}
			if c.added != "" && (standard[c.added] != nil || changed[c.added] == nil) {
				t.Errorf("%s: by default %t, with %v %t", c.added, standard[c.added] != nil, c.args, changed[c.added] != nil)
			}
		})
	}
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fromJSON(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestTheRightToAnotherOperatorsKindIsOneToAskFor, and nothing else comes with it.
func TestTheRightToAnotherOperatorsKindIsOneToAskFor(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--set", "watchNamespaces={team-a}"}} {
		rules := func(more ...string) map[string]bool {
			found := map[string]bool{}
			for name, o := range render(t, append(slices.Clone(args), more...)...) {
				if name != "ClusterRole replab-operator" && name != "Role replab-operator" {
					continue
				}
				all, _, err := unstructured.NestedSlice(o.Object, "rules")
				if err != nil {
					t.Fatal(err)
				}
				for _, rule := range all {
					found[toJSON(t, rule.(map[string]any))] = true
				}
			}
			return found
		}
		without := rules()
		for value, group := range foreignRights {
			with := rules("--set", "rbac."+value+"=true")
			for rule := range with {
				if strings.Contains(rule, group) == without[rule] {
					t.Errorf("%v: without the right to another operator's kind the rule %s is there: %v", args, rule, without[rule])
				}
			}
			if len(without) != len(with)-1 {
				t.Errorf("%v: %d rules with rbac.%s, %d without", args, len(with), value, len(without))
			}
		}
	}
}

// foreignRights are the groups of other operators' kinds, by the value of the chart that gives the right to them.
var foreignRights = map[string]string{"zalandoOperator": "acid.zalan.do", "k6Operator": "k6.io"}

// TestTheRightToAnotherOperatorsKindIsTheSameByKustomize, in objects of its own, for the operator of config/default.
func TestTheRightToAnotherOperatorsKindIsTheSameByKustomize(t *testing.T) {
	t.Parallel()
	rules := func(o *unstructured.Unstructured) []any {
		t.Helper()
		if o == nil {
			t.Fatal("there is no such role")
		}
		all, _, err := unstructured.NestedSlice(o.Object, "rules")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	standard := kustomize(t, "default")
	for folder, value := range map[string]string{"zalando": "zalandoOperator", "k6operator": "k6Operator"} {
		asked, name := kustomize(t, folder), "replab-operator-"+folder
		with := rules(render(t, "--set", "rbac."+value+"=true")["ClusterRole replab-operator"])
		both := slices.Concat(rules(standard["ClusterRole replab-operator"]), rules(asked["ClusterRole "+name]))
		if diff := cmp.Diff(both, with); diff != "" {
			t.Errorf("rules (-config/default and config/%s +charts/replab):\n%s", folder, diff)
		}
		own, theirs := asked["ClusterRoleBinding "+name], standard["ClusterRoleBinding replab-operator"]
		if own == nil || theirs == nil {
			t.Fatal("a role is bound to nobody")
		}
		if diff := cmp.Diff(theirs.Object["subjects"], own.Object["subjects"]); diff != "" {
			t.Errorf("subjects (-config/default +config/%s):\n%s", folder, diff)
		}
		if ref := own.Object["roleRef"].(map[string]any)["name"]; ref != name {
			t.Errorf("%v is what is bound", ref)
		}
	}
}
