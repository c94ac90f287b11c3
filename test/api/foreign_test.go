package api_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/cluster"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/registry"
	"replab.dev/test/kubetest"
)

// TestNodesOfAnotherOperatorNeedItsKind: the API server says what is missing before anything is made, and knows the kind as soon as it is
// there; what was made goes with the experiment.
func TestNodesOfAnotherOperatorNeedItsKind(t *testing.T) {
	api := kubetest.Client(t)
	c := &cluster.Cluster{Client: api}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "foreign-"}}
	must(t, api.Create(t.Context(), namespace))
	spec := v1alpha1.TopologySpec{
		Type: v1alpha1.TopologyPatroni, Engine: v1alpha1.EnginePostgreSQL, Nodes: 2,
		Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando, SynchronousMode: "On", SynchronousNodeCount: 1},
	}
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a", UID: "uid"}}
	x.Spec.Topology = spec
	foreign := registry.Foreign(spec)
	planned := foreign.Object(topology.Params{
		Name: "a", Namespace: namespace.Name, Labels: plan.Labels("a"), Spec: spec, Engine: "PostgreSQL", Server: postgres.Server{},
	})
	found := planned.DeepCopy()
	if _, err := c.Get(t.Context(), found); !meta.IsNoMatchError(err) {
		t.Fatalf("a kind that nobody serves is read with %v", err)
	}
	if left, err := c.Remove(t.Context(), x); err != nil || left != 0 {
		t.Errorf("without that kind %d are left, %v", left, err)
	}

	serve(t, api, foreign.ForeignKind().Group, foreign.ForeignKind().Version, foreign.ForeignKind().Kind)
	until(t, "the kind is served", func() bool {
		there, err := c.Get(t.Context(), planned.DeepCopy())
		return err == nil && !there
	})
	must(t, c.Apply(t.Context(), x, planned))
	must(t, c.Apply(t.Context(), x, planned)) // with the same effect
	found = planned.DeepCopy()
	if there, err := c.Get(t.Context(), found); err != nil || !there || !metav1.IsControlledBy(found, x) || found.GetLabels()[kube.LabelExperiment] != "a" {
		t.Errorf("what was made is there: %v, %v, with owners %v", there, err, found.GetOwnerReferences())
	}
	if o := metav1.GetControllerOf(found); o == nil || o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion {
		t.Errorf("it holds its owner up, which that operator would pass on to what it may not: %+v", o)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a-config"}}
	must(t, c.Apply(t.Context(), x, config))
	if there, err := c.Get(t.Context(), config); err != nil || !there {
		t.Fatalf("a ConfigMap is there: %v, %v", there, err)
	}
	if o := metav1.GetControllerOf(config); o == nil || o.BlockOwnerDeletion == nil || !*o.BlockOwnerDeletion {
		t.Errorf("what is replab's own does not hold its owner up: %+v", o)
	}
	if n, _, _ := unstructured.NestedInt64(found.Object, "spec", "numberOfInstances"); n != 2 {
		t.Errorf("it asks for %d nodes, want 2", n)
	}
	if left, err := c.Remove(t.Context(), x); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
	if there, err := c.Get(t.Context(), planned.DeepCopy()); err != nil || there {
		t.Errorf("what was removed is there: %v, %v", there, err)
	}
}

// TestWithoutTheRightToAnotherOperatorsKindTheRestIsRemoved, with the rights that the operator's own role gives; they come to that kind with
// config/zalando.
func TestWithoutTheRightToAnotherOperatorsKindTheRestIsRemoved(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator"
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	c := &cluster.Cluster{Client: api}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "foreign-"}}
	must(t, admin.Create(t.Context(), namespace))
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a", UID: "uid"}}
	x.Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando}}
	foreign := registry.Foreign(x.Spec.Topology)
	serve(t, admin, foreign.ForeignKind().Group, foreign.ForeignKind().Version, foreign.ForeignKind().Kind)
	bound := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a-config", Labels: plan.Labels("a")}}
	must(t, admin.Create(t.Context(), bound))
	planned := &unstructured.Unstructured{}
	planned.SetGroupVersionKind(foreign.ForeignKind().GroupVersionKind)
	planned.SetNamespace(namespace.Name)
	planned.SetName("a-db")

	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the operator has its rights", func() bool {
		_, err := c.Get(t.Context(), bound.DeepCopy())
		return err == nil
	})
	until(t, "the kind is served, and not for it", func() bool {
		_, err := c.Get(t.Context(), planned.DeepCopy())
		return apierrors.IsForbidden(err)
	})
	begun := x.DeepCopy()
	begun.Status.StartTime = &metav1.Time{Time: time.Now()}
	must(t, admin.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: kube.SecretName("a"), Labels: plan.Labels("a")}}))
	if _, err := c.Remove(t.Context(), begun); !errors.Is(err, topology.ErrForbidden) {
		t.Errorf("nodes that may be there are removed with %v", err)
	}
	if there, err := c.Get(t.Context(), bound.DeepCopy()); err != nil || !there {
		t.Errorf("what they need is there: %v, %v", there, err)
	}
	if left, err := c.Remove(t.Context(), x); err != nil || left != 0 {
		t.Errorf("without that right %d are left, %v", left, err)
	}
	if there, err := (&cluster.Cluster{Client: admin}).Get(t.Context(), bound.DeepCopy()); err != nil || there {
		t.Errorf("the rest is there: %v, %v", there, err)
	}
	if left, err := c.Remove(t.Context(), begun); err != nil || left != 0 {
		t.Errorf("of one that was removed before %d are left, %v", left, err)
	}

	give(t, admin, config.Impersonate.UserName, "zalando/role.yaml")
	until(t, "the operator has the right to that kind", func() bool {
		there, err := c.Get(t.Context(), planned.DeepCopy())
		return err == nil && !there
	})
	if left, err := c.Remove(t.Context(), x); err != nil || left != 0 {
		t.Errorf("with that right %d are left, %v", left, err)
	}
}

// give has a user hold a role of config for as long as the test lasts.
func give(t *testing.T, api client.Client, user, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "config", file))
	must(t, err)
	role := &rbacv1.ClusterRole{}
	must(t, yaml.Unmarshal(text, role))
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, o := range []client.Object{role, binding} {
		must(t, api.Create(t.Context(), o))
		t.Cleanup(func() { must(t, api.Delete(context.Background(), o)) }) // the test's own context is over then
	}
}

// serve has the API server know a kind of which it checks nothing, for as long as the test lasts.
func serve(t *testing.T, api client.Client, group, version, kind string) {
	t.Helper()
	crd := &unstructured.Unstructured{Object: fromYAML(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]ss.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[4]ss, singular: %[4]s, kind: %[3]s, listKind: %[3]sList}
  versions:
    - {name: %[2]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, group, version, kind, strings.ToLower(kind)))}
	must(t, api.Create(t.Context(), crd))
	t.Cleanup(func() {
		ctx := context.Background() // the test's own is over then; it may have removed the kind
		must(t, client.IgnoreNotFound(api.Delete(ctx, crd)))
		until(t, "the kind is gone", func() bool { return apierrors.IsNotFound(api.Get(ctx, client.ObjectKeyFromObject(crd), crd)) })
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute until %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
