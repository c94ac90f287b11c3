package charts_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/kubetest"
)

func TestServerAcceptsWhatTheChartRenders(t *testing.T) {
	server := kubetest.Client(t)
	restrictedNamespace(t, "replab-system")
	for key, object := range render(t, "--set", "podDisruptionBudget.enabled=true,networkPolicy.ingress.enabled=true,networkPolicy.egress.enabled=true") {
		t.Run(key, func(t *testing.T) {
			strict := client.FieldValidation(metav1.FieldValidationStrict)
			if object.GetKind() == "CustomResourceDefinition" {
				object.SetName(strings.Replace(object.GetName(), "replab.dev", "other.example", 1)) // the server has replab's already
				object.Object["spec"].(map[string]any)["group"] = "other.example"
			}
			if err := server.Create(t.Context(), object, client.DryRunAll, strict); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOperatorKeepsToTheRestrictedPodSecurityStandard(t *testing.T) {
	server := kubetest.Client(t)
	restrictedNamespace(t, "restricted")
	text, err := render(t)["Deployment replab-operator"].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := json.Unmarshal(text, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name = "restricted", "operator"
	if err := server.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Error(err)
	}
}

func restrictedNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if err := kubetest.Client(t).Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
}

// TestTheOperatorKnowsItsMemoryLimit holds that Go collects its garbage before the kernel ends the container.
func TestTheOperatorKnowsItsMemoryLimit(t *testing.T) {
	env, _, err := unstructured.NestedSlice(render(t)["Deployment replab-operator"].Object, "spec", "template", "spec", "containers")
	if err != nil || len(env) != 1 {
		t.Fatal(env, err)
	}
	text, err := json.Marshal(env[0])
	if err != nil {
		t.Fatal(err)
	}
	var operator corev1.Container
	if err := json.Unmarshal(text, &operator); err != nil {
		t.Fatal(err)
	}
	for _, e := range operator.Env {
		if e.Name == "GOMEMLIMIT" && e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.Resource == "limits.memory" {
			return
		}
	}
	t.Errorf("it has %v", operator.Env)
}
