package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	topologies "replab.dev/internal/topology/registry"
	"replab.dev/test/experiment"
)

// TestWhatNodesAreMadeOfAloneIsAnotherOperators: objects of kinds that this one has no types of need not be.
func TestWhatNodesAreMadeOfAloneIsAnotherOperators(t *testing.T) {
	of := func(kind schema.GroupVersionKind) client.Object {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(kind)
		return o
	}
	x, other := experiment.Load(t, "patroni-zalando"), experiment.Load(t, "patroni-quorum")
	nodes := topologies.Foreign(x.Spec.Topology).ForeignKind().GroupVersionKind
	if !isForeign(x, of(nodes)) {
		t.Errorf("%s is not", nodes)
	}
	if run := (schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"}); isForeign(x, of(run)) || isForeign(other, of(run)) {
		t.Errorf("%s is", run)
	}
	if isForeign(other, of(nodes)) || isForeign(x, &corev1.ConfigMap{}) {
		t.Error("one of an experiment that has none is, or an object of this operator")
	}
}
