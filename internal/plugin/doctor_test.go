package plugin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/runs"
	"replab.dev/test/kubetest"
)

// TestDoctorBeforeAndAfterAnInstallation: what stands in for one is made step by step, and the exit code turns with it.
func TestDoctorBeforeAndAfterAnInstallation(t *testing.T) {
	server, here := kubetest.Client(t), namespace(t)
	got := command(t, here, "doctor")
	for _, want := range []string{"no pod of it is in the cluster", "there is no storage class", "you may run, watch, end and read experiments in namespace " + here, "postgresqls.acid.zalan.do"} {
		if got.code != ExitFailed || !strings.Contains(got.out, want) {
			t.Errorf("before: code %d, no %q in:\n%s%s", got.code, want, got.out, got.err)
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "replab-operator-0", Labels: kube.With(plan.OperatorLabels, "app.kubernetes.io/version", "1.2.3")},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "operator", Image: "replab:v1.2.3"}},
			Volumes:    []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "catalogue"}}}}},
		},
	}
	catalogue := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "catalogue"}, Data: map[string]string{"operator.json": `{"images":{"replab":"replab:v1.2.3","k6":"k6:1","servers":{"MySQL":"mysql:9"}}}`}}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "plugin-standard", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "none"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "plugin-node"}}
	for _, o := range []client.Object{pod, catalogue, class, node} {
		if err := server.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Delete(t.Context(), o) })
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	node.Spec.Taints = nil // it is made as one that is not ready
	if err := server.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{"docker.io/library/mysql:9"}}, {Names: []string{"docker.io/k6:1"}}}
	for _, o := range []client.Object{pod, node} {
		if err := server.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	got = command(t, here, "doctor")
	for _, want := range []string{"of the plugin's version v1.2.3", "default storage class plugin-standard", "1 of 3 of the operator's catalogue are on no node that tells: they are pulled when an experiment wants them: replab:v1.2.3\n", "4000 millicores"} {
		if got.code != ExitOK || !strings.Contains(got.out, want) {
			t.Errorf("after: code %d, no %q in:\n%s%s", got.code, want, got.out, got.err)
		}
	}
}

// TestWhatCannotBeAsked is neither fit nor unfit.
func TestWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusUnauthorized: "log in again", http.StatusForbidden: "ask the API server for the custom resource"} {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(api.Close)
		config := &rest.Config{Host: api.URL}
		reached, err := runs.New(config, quick)
		if err != nil {
			t.Fatal(err)
		}
		c := Cluster{Cluster: reached, Config: config}
		if _, err := c.facts(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("at %d: %v", status, err)
		}
	}
}

func TestOperatorLabelsAreThoseOfThePlan(t *testing.T) {
	for k, v := range plan.OperatorLabels {
		if operatorLabels[k] != v {
			t.Errorf("label %s is %q, want %q", k, operatorLabels[k], v)
		}
	}
}

func TestClockOfTheAPIServer(t *testing.T) {
	reached, err := runs.New(kubetest.Config(t), look)
	if err != nil {
		t.Fatal(err)
	}
	c := Cluster{Cluster: reached, Config: kubetest.Config(t)}
	ahead, width, err := c.clock(t.Context())
	if err != nil || ahead.Abs() > width || width > time.Minute {
		t.Errorf("the same clock is %v ahead, known to %v: %v", ahead, width, err)
	}
}
