package api_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/cluster"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/load/registry"
	"replab.dev/internal/plan"
	"replab.dev/test/kubetest"
)

// TestLoadOfAnotherOperatorNeedsItsKindAndTheRight: the API server says which of the two is missing before anything is made. With the rights that the
// operator's own role gives the load's Jobs are removed all the same; with config/k6operator its object too.
func TestLoadOfAnotherOperatorNeedsItsKindAndTheRight(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator-load"
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	c := &cluster.Cluster{Client: api}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "load-"}}
	must(t, admin.Create(t.Context(), namespace))
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a", UID: "uid"}}
	runner, err := registry.For(v1alpha1.RunnerK6Operator)
	must(t, err)
	params, err := load.New(load.Input{
		Name: "a", Namespace: namespace.Name, Labels: plan.Labels("a"),
		Load:    v1alpha1.LoadSpec{Parallelism: 2, Stages: []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: new(int64(10))}}},
		Dataset: v1alpha1.DatasetSpec{Users: 10, Seed: 1, Locale: "en"},
	})
	must(t, err)
	objects, _ := runner.Objects(params)
	planned := objects[0]
	read := func() (bool, error) { return c.Get(t.Context(), planned.DeepCopyObject().(client.Object)) }

	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the kind is missing", func() bool { _, err := read(); return meta.IsNoMatchError(err) })
	kind := planned.GetObjectKind().GroupVersionKind()
	serve(t, admin, kind.Group, kind.Version, kind.Kind)
	until(t, "the kind is served, and not for it", func() bool { _, err := read(); return apierrors.IsForbidden(err) })
	job := func() *batchv1.Job { // as that operator makes it
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: planned.GetName() + "-1", Labels: params.Pod.Labels},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "k6", Image: "k6"}},
			}}},
		}
	}
	must(t, admin.Create(t.Context(), job()))
	must(t, c.RemoveLoad(t.Context(), x))
	if there, err := c.Get(t.Context(), job()); err != nil || there {
		t.Errorf("without the right to that kind its Job is there: %v, %v", there, err)
	}

	give(t, admin, config.Impersonate.UserName, "k6operator/role.yaml")
	until(t, "the operator has the right to that kind", func() bool { there, err := read(); return err == nil && !there })
	must(t, c.Create(t.Context(), x, planned))
	must(t, c.Create(t.Context(), x, planned)) // with the same effect
	found := planned.DeepCopyObject().(client.Object)
	if there, err := c.Get(t.Context(), found); err != nil || !there || !metav1.IsControlledBy(found, x) || found.GetLabels()[kube.LabelExperiment] != "a" {
		t.Errorf("what was made is there: %v, %v, with owners %v", there, err, found.GetOwnerReferences())
	}
	must(t, c.RemoveLoad(t.Context(), x))
	if there, err := read(); err != nil || there {
		t.Errorf("what was removed is there: %v, %v", there, err)
	}
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName("testruns." + kind.Group)
	must(t, admin.Delete(t.Context(), crd))
	until(t, "the kind is gone, which the client has known", func() bool { _, err := read(); return meta.IsNoMatchError(err) })
	if err := c.Create(t.Context(), x, planned); !meta.IsNoMatchError(err) {
		t.Errorf("making one of a kind that is gone: %v", err)
	}
	must(t, c.RemoveLoad(t.Context(), x))
}
