package charts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

// watched are values with all that is for Prometheus and Grafana.
var watched = []string{
	"--set", "metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboards.enabled=true",
	"--set", "metrics.prometheus.namespace=monitoring,metrics.prometheus.podLabels.app=prometheus",
	"--set", "metrics.podMonitor.labels.release=stack,metrics.rules.labels.release=stack,metrics.dashboards.annotations.grafana_folder=replab",
}

func TestWhatIsForPrometheusIsToBeAskedFor(t *testing.T) {
	t.Parallel()
	standard, changed := render(t), render(t, watched...)
	for key, label := range map[string]string{
		"PodMonitor replab-operator-experiments": "release", "PrometheusRule replab-operator": "release",
		"ConfigMap replab-operator-dashboard-run": "grafana_dashboard", "ConfigMap replab-operator-dashboard-experiments": "grafana_dashboard",
		"ConfigMap replab-operator-dashboard-topology": "grafana_dashboard",
	} {
		if standard[key] != nil || changed[key] == nil {
			t.Errorf("%s: by default %t, with %v %t", key, standard[key] != nil, watched, changed[key] != nil)
		} else if changed[key].GetLabels()[label] == "" {
			t.Errorf("%s has the labels %v, and no %s", key, changed[key].GetLabels(), label)
		}
	}
	if a := changed["ConfigMap replab-operator-dashboard-run"].GetAnnotations(); a["grafana_folder"] != "replab" {
		t.Errorf("annotations of a dashboard are %v", a)
	}
}

// TestDashboardsAndRulesArriveAsTheyAre: Helm reads neither Grafana's variables nor Prometheus' templates.
func TestDashboardsAndRulesArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	all := render(t, watched...)
	files, err := filepath.Glob(filepath.Join(kubetest.Root(), "charts", "replab", "dashboards", "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("dashboards are %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		data, _, _ := unstructured.NestedStringMap(all["ConfigMap replab-operator-dashboard-"+name].Object, "data")
		if diff := cmp.Diff(string(text), data["replab-"+name+".json"]); diff != "" {
			t.Errorf("%s (-file +ConfigMap):\n%s", file, diff)
		}
	}
	groups, _, _ := unstructured.NestedSlice(all["PrometheusRule replab-operator"].Object, "spec", "groups")
	if text := toJSON(t, groups); !strings.Contains(text, "{{ $labels.experiment }}") || strings.Count(text, `"alert"`) != 5 {
		t.Errorf("rules are %s", text)
	}
}

// TestThePodMonitorFindsProcesses by what the plan gives their pods.
func TestThePodMonitorFindsProcesses(t *testing.T) {
	t.Parallel()
	monitor := render(t, watched...)["PodMonitor replab-operator-experiments"].Object
	endpoints, _, _ := unstructured.NestedSlice(monitor, "spec", "podMetricsEndpoints")
	if len(endpoints) != 1 || endpoints[0].(map[string]any)["port"] != wire.MetricsPortName {
		t.Fatalf("endpoints are %v, want one of port %s", endpoints, wire.MetricsPortName)
	}
	taken := toJSON(t, endpoints)
	for _, label := range []string{kube.LabelExperiment, kube.LabelComponent} {
		if !strings.Contains(taken, `"__meta_kubernetes_pod_label_`+regexp.MustCompile(`\W`).ReplaceAllString(label, "_")+`"`) {
			t.Errorf("label %s of the pods is taken by none of %s", label, taken)
		}
	}
	if selector, _, _ := unstructured.NestedSlice(monitor, "spec", "selector", "matchExpressions"); len(selector) != 1 || selector[0].(map[string]any)["key"] != kube.LabelExperiment {
		t.Errorf("it selects by %v", selector)
	}
	some := render(t, append(slices.Clone(watched), "--set", "watchNamespaces={a}")...)["PodMonitor replab-operator-experiments"].Object
	if names, _, _ := unstructured.NestedStringSlice(some, "spec", "namespaceSelector", "matchNames"); !slices.Equal(names, []string{"a"}) {
		t.Errorf("of an operator of one namespace it looks into %v", names)
	}
}

// TestAlertsNeedWhatTheyAreAbout: without it one would fire in every run.
func TestAlertsNeedWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	if _, err := helm(t, "--set", "metrics.rules.enabled=true"); err == nil || !strings.Contains(err.Error(), "set metrics.podMonitor.enabled=true") {
		t.Errorf("rules without the PodMonitor: %v, want them refused", err)
	}
}

// TestPrometheusIsLetInAsAWhole: a namespace without labels would let all its pods in, and labels without a namespace nobody.
func TestPrometheusIsLetInAsAWhole(t *testing.T) {
	t.Parallel()
	for _, half := range []string{"metrics.prometheus.namespace=monitoring", "metrics.prometheus.podLabels.app=prometheus"} {
		if _, err := helm(t, "--set", half); err == nil || !strings.Contains(err.Error(), "prometheus") {
			t.Errorf("%s alone: %v, want it refused", half, err)
		}
	}
	cfg := operatorConfig(t, render(t, watched...))
	if p := cfg.Prometheus; p == nil || p.Namespace != "monitoring" || p.PodLabels["app"] != "prometheus" {
		t.Errorf("the operator lets %+v in", p)
	}
	if p := operatorConfig(t, render(t)).Prometheus; p != nil {
		t.Errorf("by default the operator lets %+v in", p)
	}
}

func operatorConfig(t *testing.T, all objects) (cfg wire.OperatorConfig) {
	t.Helper()
	text, _, err := unstructured.NestedString(all["ConfigMap replab-operator-config"].Object, "data", "operator.json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
