package api_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers"
	"replab.dev/internal/cluster"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

// leftBy is what experiment a, which is deleted, has left in a namespace while no operator was there.
func leftBy(t *testing.T, r remade) []client.Object {
	t.Helper()
	must(t, (&cluster.Cluster{Client: r.admin}).Note(t.Context(), r.x))
	must(t, (&cluster.Cluster{Client: r.admin}).Note(t.Context(), r.x)) // with the same effect
	must(t, r.admin.Create(t.Context(), r.state))
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "data", Labels: plan.Labels("a")}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	must(t, r.admin.Create(t.Context(), claim))
	// No controller of this server takes the finalizer that protects claims.
	claim.Finalizers = nil
	must(t, r.admin.Update(t.Context(), claim))
	return []client.Object{r.state, claim, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "a-remains"}}}
}

// TestAnOperatorThatBeginsRemovesWhatIsLeft of experiments that were deleted while none was there.
func TestAnOperatorThatBeginsRemovesWhatIsLeft(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator-of-leftovers"
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the operator has its rights", func() bool { return api.List(t.Context(), &corev1.PodList{}) == nil })
	r := aRemade(t, admin)
	left := leftBy(t, r)
	elsewhere := leftBy(t, aRemade(t, admin))

	cfg := wire.OperatorConfig{WatchNamespaces: []string{r.x.Namespace}, MetricsAddress: "127.0.0.1:0", HealthAddress: "127.0.0.1:0"}
	mgr, err := controllers.NewManager(config, cfg, controllers.Build{})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	c := &cluster.Cluster{Client: admin}
	for _, o := range left {
		until(t, o.GetName()+" is gone", func() bool { there, err := c.Get(t.Context(), o); return err == nil && !there })
	}
	stop()
	must(t, <-ended)
	for _, o := range elsewhere {
		if there, err := c.Get(t.Context(), o); err != nil || !there {
			t.Errorf("%s of a namespace that is not watched is there: %v, %v", o.GetName(), there, err)
		}
	}
}

// TestTheNoteOfAnotherExperimentIsNotTaken: a ConfigMap of that name that is somebody else's stays as it is.
func TestTheNoteOfAnotherExperimentIsNotTaken(t *testing.T) {
	r := aRemade(t, kubetest.Client(t))
	c := &cluster.Cluster{Client: r.admin}
	mine := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "a-remains"}, Data: map[string]string{"experiment.json": "{}"}}
	must(t, r.admin.Create(t.Context(), mine))
	must(t, r.admin.Create(t.Context(), r.state))
	byName := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "a"}}
	if left, err := c.RemoveOrphans(t.Context(), byName); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
	for _, o := range []client.Object{mine, r.state} {
		if there, err := c.Get(t.Context(), o); err != nil || !there {
			t.Errorf("%s is there: %v, %v", o.GetName(), there, err)
		}
	}
	own := r.x.DeepCopy()
	own.Spec.Topology.Patroni.Provider = v1alpha1.ProviderStatefulSet
	must(t, c.Note(t.Context(), own)) // which needs none
	if err := c.Note(t.Context(), r.x); err == nil {
		t.Error("another experiment's note is taken for this one's")
	}
}

// TestAnObjectOfAnExperimentThatIsGoneIsReplaced: the garbage collector may take a new experiment of the same name for its owner.
func TestAnObjectOfAnExperimentThatIsGoneIsReplaced(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator-of-namesakes"
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the operator has its rights", func() bool { return api.List(t.Context(), &corev1.PodList{}) == nil })
	x := aRemade(t, admin).x
	gone := x.DeepCopy()
	gone.UID = "00000000-0000-0000-0000-000000000001"
	c := &cluster.Cluster{Client: api}
	for _, object := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: kube.Meta(x.Namespace, "a-results", kube.ComponentResults, plan.Labels("a"))},
		kube.Service(kube.Meta(x.Namespace, "a-social", kube.ComponentSocial, plan.Labels("a")), map[string]string{"a": "b"}, false, 80),
	} {
		old := object.DeepCopyObject().(client.Object)
		must(t, controllerutil.SetControllerReference(gone, old, admin.Scheme()))
		must(t, admin.Create(t.Context(), old))
		if err := c.Apply(t.Context(), x, object); err == nil || !strings.Contains(err.Error(), "is still there") {
			t.Errorf("%s was taken over: %v", object.GetName(), err)
		}
		must(t, c.Apply(t.Context(), x, object))
	}
}
