package docs_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	"replab.dev/test/docs"
)

// TestThePolicyForLiveFiguresOpensTheRecorder of an experiment, at the port that has them, and nothing else.
func TestThePolicyForLiveFiguresOpensTheRecorder(t *testing.T) {
	found, err := docs.Read(t, "docs/reference/security.md").YAML()
	if err != nil || len(found.Objects) != 1 {
		t.Fatalf("docs/reference/security.md has %d objects, %v; want one", len(found.Objects), err)
	}
	var policy networkingv1.NetworkPolicy
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(found.Objects[0].Object, &policy, true); err != nil {
		t.Fatal(err)
	}
	selector := labels.SelectorFromSet(policy.Spec.PodSelector.MatchLabels)
	for _, component := range []string{
		kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial, kube.ComponentRecorder, kube.ComponentLoad,
		kube.ComponentSeed, kube.ComponentAudit, kube.ComponentOperator,
	} {
		if opened := selector.Matches(labels.Set(kube.Meta("default", "a", component, map[string]string{kube.LabelManagedBy: kube.ManagedBy}).Labels)); opened != (component == kube.ComponentRecorder) {
			t.Errorf("pods of component %s are selected: %t", component, opened)
		}
	}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.Ports) != 1 || rule.Ports[0].Port.IntValue() != wire.PortRecorderControl || len(rule.From) == 0 {
			t.Errorf("rule %+v, want port %d alone", rule, wire.PortRecorderControl)
		}
	}
}
