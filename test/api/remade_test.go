package api_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/cluster"
	"replab.dev/internal/plan"
	"replab.dev/test/kubetest"
)

// remade is a namespace in which an experiment of another operator's nodes was, and the ConfigMap that its last pod made anew.
type remade struct {
	admin client.Client
	x     *v1alpha1.ReplicationExperiment
	state *corev1.ConfigMap
}

func (r remade) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: r.x.Namespace, Name: name, Labels: map[string]string{"application": "spilo", "cluster-name": "a-db"}}
}

// TestWhatEndingPodsMakeAnewGoes with the operator's own rights, and nobody else's does.
func TestWhatEndingPodsMakeAnewGoes(t *testing.T) {
	admin := kubetest.Client(t)
	config := kubetest.Config(t)
	config.Impersonate.UserName = "replab-operator-of-remade"
	api, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	must(t, err)
	give(t, admin, config.Impersonate.UserName, "rbac/role.yaml")
	until(t, "the operator has its rights", func() bool { return api.List(t.Context(), &corev1.PodList{}) == nil })
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}
	somebodys := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "b", UID: "b"}}
	for name, c := range map[string]struct {
		change func(r remade) // before the ConfigMap is made
		after  func(r remade)
		stays  bool
		left   int // as it is counted
	}{
		"made anew":                   {left: 1},
		"of another name":             {change: func(r remade) { r.state.Name = "a-db-mine" }, stays: true},
		"of another cluster":          {change: func(r remade) { r.state.Labels["cluster-name"] = "b-db" }, stays: true},
		"without labels":              {change: func(r remade) { r.state.Labels = nil }, stays: true},
		"somebody's":                  {change: func(r remade) { r.state.OwnerReferences = somebodys }, stays: true},
		"there before it":             {change: func(r remade) { r.x.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour)) }, stays: true},
		"and it has not begun":        {change: func(r remade) { r.x.Status.StartTime = nil }, stays: true},
		"and it had nodes of its own": {change: func(r remade) { r.x.Spec.Topology.Patroni.Provider = v1alpha1.ProviderStatefulSet }, stays: true},
		"with a pod of somebody's cluster": {after: func(r remade) {
			must(t, r.admin.Create(t.Context(), &corev1.Pod{ObjectMeta: r.meta("a-db-7"), Spec: container}))
		}, stays: true},
		"with a pod of the experiment left": {after: func(r remade) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "a", Labels: plan.Labels("a"), OwnerReferences: somebodys}, Spec: container}
			must(t, r.admin.Create(t.Context(), pod))
		}, stays: true, left: 1},
		"with somebody's StatefulSet": {after: func(r remade) {
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.x.Namespace, Name: "a-db"}}
			set.Spec.Selector = &metav1.LabelSelector{MatchLabels: r.state.Labels}
			set.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: r.state.Labels}, Spec: container}
			must(t, r.admin.Create(t.Context(), set))
		}, stays: true},
	} {
		r := aRemade(t, admin)
		if c.change != nil {
			c.change(r)
		}
		must(t, admin.Create(t.Context(), r.state))
		aside := &corev1.ConfigMap{ObjectMeta: r.meta("a-db-aside")}
		must(t, admin.Create(t.Context(), aside))
		if c.after != nil {
			c.after(r)
		}
		left, err := (&cluster.Cluster{Client: api}).RemoveOrphans(t.Context(), r.x)
		there, readErr := (&cluster.Cluster{Client: admin}).Get(t.Context(), r.state.DeepCopy())
		if err != nil || readErr != nil || there != c.stays || left != c.left {
			t.Errorf("%s: it is there: %v, want %v; %d left, want %d, %v, %v", name, there, c.stays, left, c.left, err, readErr)
		}
		if there, err := (&cluster.Cluster{Client: admin}).Get(t.Context(), aside); err != nil || !there {
			t.Errorf("%s: what Patroni makes none of is there: %v, %v", name, there, err)
		}
		if again, err := (&cluster.Cluster{Client: api}).RemoveOrphans(t.Context(), r.x); !c.stays && (err != nil || again != 0) {
			t.Errorf("%s: at the next look %d are left, %v", name, again, err)
		}
	}
}

func aRemade(t *testing.T, admin client.Client) remade {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "remade-"}}
	must(t, admin.Create(t.Context(), namespace))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "default"}} // which pods are to have
	must(t, client.IgnoreAlreadyExists(admin.Create(t.Context(), account)))
	r := remade{admin: admin, x: &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "a", UID: "uid"}}}
	r.x.CreationTimestamp = namespace.CreationTimestamp
	r.x.Status.StartTime = &r.x.CreationTimestamp
	r.x.Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Engine: v1alpha1.EnginePostgreSQL, Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando}}
	r.state = &corev1.ConfigMap{ObjectMeta: r.meta("a-db-leader")}
	return r
}

// late runs something before pods are listed for the second time, as whoever is quicker does.
type late struct {
	client.Client
	looks int
	then  func()
}

func (l *late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*corev1.PodList); ok {
		if l.looks++; l.looks == 2 {
			l.then()
		}
	}
	return l.Client.List(ctx, list, options...)
}

// TestWhatSomebodyHasMadeSinceTheLookStays: the one that was looked at is deleted, or none.
func TestWhatSomebodyHasMadeSinceTheLookStays(t *testing.T) {
	r := aRemade(t, kubetest.Client(t))
	must(t, r.admin.Create(t.Context(), r.state))
	another := &corev1.ConfigMap{ObjectMeta: r.meta(r.state.Name)}
	api := &late{Client: r.admin, then: func() {
		must(t, r.admin.Delete(t.Context(), r.state))
		must(t, r.admin.Create(t.Context(), another))
	}}
	if _, err := (&cluster.Cluster{Client: api}).RemoveOrphans(t.Context(), r.x); err != nil || api.looks != 2 {
		t.Errorf("%d looks at pods, %v", api.looks, err)
	}
	found := &corev1.ConfigMap{}
	if err := r.admin.Get(t.Context(), client.ObjectKeyFromObject(another), found); err != nil || found.UID != another.UID {
		t.Errorf("another one is there as %s, want %s: %v", found.UID, another.UID, err)
	}
}
