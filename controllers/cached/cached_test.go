package cached_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/metrics/metricstest"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

const patience = 30 * time.Second

// TestUndecodableExperimentStopsNoOther stores experiments that Go cannot decode, before and after the operator starts.
func TestUndecodableExperimentStopsNoOther(t *testing.T) {
	loosen(t)
	create(t, "bad-before", "1e1.5")
	create(t, "good-before", "1Gi")
	health := operate(t)
	await(t, "good-before", "Suspended")
	create(t, "bad-after", "1e-99999999") // whose decoding would take minutes and gigabytes
	create(t, "good-after", "1Gi")
	await(t, "good-after", "Suspended")

	for _, name := range []string{"bad-before", "bad-after"} {
		c := await(t, name, v1alpha1.ReasonUndecodable)
		if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "spec.topology.resources.limits.ephemeral-storage: ") {
			t.Errorf("experiment %s is told %s: %s", name, c.Status, c.Message)
		}
	}
	want := map[string]float64{"bad-before/default": 1, "bad-after/default": 1}
	if got := metricstest.Values(t, crmetrics.Registry, "replab_experiment_undecodable"); !maps.Equal(got, want) {
		t.Errorf("the metric names %v, want %v", got, want)
	}
	if status, body := ask(t, health+"/readyz"); status != http.StatusOK || !strings.Contains(body, "experiments: 2 cannot be decoded") {
		t.Errorf("/readyz answers %d: %s", status, body)
	}
	if status, body := ask(t, health+"/healthz"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("/healthz answers %d: %s", status, body)
	}
	awaitEvent(t, "bad-before")

	corrected := experiment(t, "bad-before", "2Gi")
	must(t, kubetest.Client(t).Patch(t.Context(), corrected, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"topology":{"resources":{"limits":{"ephemeral-storage":"2Gi"}}}}}`))))
	await(t, "bad-before", "Suspended")
	must(t, kubetest.Client(t).Delete(t.Context(), experiment(t, "bad-after", "")))
	losesItsEnd(t, "good-before")
	for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if _, body := ask(t, health+"/readyz"); body == "ok\n" {
			break
		} else if time.Now().After(until) {
			t.Fatalf("once all can be decoded /readyz answers %s", body)
		}
	}
}

// losesItsEnd ends an experiment before its start, changes it so that Go cannot decode it, and checks that its status no longer says that it ended.
func losesItsEnd(t *testing.T, name string) {
	t.Helper()
	x := experiment(t, name, "1Gi")
	patch := func(spec string) {
		must(t, kubetest.Client(t).Patch(t.Context(), x, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))))
	}
	patch(`{"abort":true}`)
	await(t, name, v1alpha1.ReasonAborted)
	awaitAt(t, name, v1alpha1.ConditionComplete, string(v1alpha1.VerdictInconclusive))
	patch(`{"topology":{"resources":{"limits":{"ephemeral-storage":"1e1.5"}}}}`)
	await(t, name, v1alpha1.ReasonUndecodable)
	must(t, kubetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(x), x))
	status := x.Object["status"].(map[string]any)
	if len(status["conditions"].([]any)) != 1 || status["phase"] != "Pending" || len(status) != 2 {
		t.Errorf("the status is %v", status)
	}
	patch(`{"abort":false,"topology":{"resources":{"limits":{"ephemeral-storage":"1Gi"}}}}`)
	await(t, name, v1alpha1.ReasonSuspended)
}

// operate starts an operator until the test ends. It returns where its health is served.
func operate(t *testing.T) string {
	t.Helper()
	cfg := wire.OperatorConfig{ClusterDomain: "cluster.local", HealthAddress: freeport.Address(t), Images: wire.Images{
		Replab: "replab:1", K6: "k6:1", Servers: map[string]string{"MySQL": "mysql:1"}, Proxies: map[string]string{"HAProxy": "haproxy:1"},
	}}
	mgr, err := controllers.NewManager(kubetest.Config(t), cfg, controllers.Build{Version: "test", Servers: engine.Lookup[engine.Server]{string(v1alpha1.EngineMySQL): mysql.Server{}}})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + cfg.HealthAddress
}

func ask(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

func awaitEvent(t *testing.T, name string) {
	t.Helper()
	var events eventsv1.EventList
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		must(t, kubetest.Client(t).List(t.Context(), &events))
		for _, e := range events.Items {
			if e.Regarding.Name == name && e.Reason == v1alpha1.ReasonUndecodable && e.Type == "Warning" {
				return
			}
		}
	}
	t.Errorf("experiment %s has no event: %v", name, events.Items)
}

// loosen takes the patterns of quantities out of the CRD, as a CRD of an older replab has them.
func loosen(t *testing.T) {
	t.Helper()
	kube := kubetest.Client(t)
	must(t, apiextensionsv1.AddToScheme(kube.Scheme()))
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "replicationexperiments.replab.dev"
	must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	limits := spec.Properties["topology"].Properties["resources"].Properties["limits"]
	limits.AdditionalProperties.Schema.Pattern = ""
	must(t, kube.Update(t.Context(), crd))
}

func experiment(t *testing.T, name, storage string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(`
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: `+name+`, namespace: default, annotations: {kubectl.kubernetes.io/last-applied-configuration: "`+strings.Repeat("x", 1000)+`"}}
spec:
  topology: {type: Single, resources: {limits: {ephemeral-storage: "`+storage+`"}}}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
  suspend: true
`), &u.Object))
	return u
}

// create waits until the API server knows the loosened CRD.
func create(t *testing.T, name, storage string) {
	t.Helper()
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if err = kubetest.Client(t).Create(t.Context(), experiment(t, name, storage)); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// await returns the condition Accepted once its reason is the given one.
func await(t *testing.T, name, reason string) metav1.Condition {
	t.Helper()
	return awaitAt(t, name, v1alpha1.ConditionAccepted, reason)
}

// awaitAt waits until a condition has a reason.
func awaitAt(t *testing.T, name, condition, reason string) metav1.Condition {
	t.Helper()
	var last []metav1.Condition
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		last = conditions(t, name)
		if c := meta.FindStatusCondition(last, condition); c != nil && c.Reason == reason {
			return *c
		}
	}
	t.Fatalf("experiment %s has the conditions %v, not reason %s", name, last, reason)
	return metav1.Condition{}
}

func conditions(t *testing.T, name string) (found []metav1.Condition) {
	t.Helper()
	u := experiment(t, name, "1Gi")
	must(t, kubetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(u), u))
	raw, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	must(t, err)
	text, err := json.Marshal(raw)
	must(t, err)
	must(t, json.Unmarshal(text, &found))
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
