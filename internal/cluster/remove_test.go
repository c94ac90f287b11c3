package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
)

// TestAKindThatTheClusterDoesNotKnowNeedsNoRemoval: a runner of another operator's need not be installed for every experiment.
func TestAKindThatTheClusterDoesNotKnowNeedsNoRemoval(t *testing.T) {
	broken := errors.New("no connection")
	for _, c := range []struct{ answer, want error }{
		{nil, nil},
		{&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "k6.io", Kind: "TestRun"}}, nil},
		{broken, broken},
	} {
		calls := 0
		cluster := &Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				calls++
				return c.answer
			},
		})}
		if err := cluster.RemoveLoad(t.Context(), &v1alpha1.ReplicationExperiment{}); !errors.Is(err, c.want) || calls == 0 {
			t.Errorf("%v was answered to %d calls, and returned as %v", c.answer, calls, err)
		}
	}
}

// TestTheLoadEndsWithoutTheRightToAnotherOperatorsKind, which replab need not have, and may lose: its own Jobs are deleted, and are never left for that reason.
func TestTheLoadEndsWithoutTheRightToAnotherOperatorsKind(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "any"}, "", nil)
	for _, mayNot := range []string{"TestRun", "Job"} {
		removed := map[string]bool{}
		cluster := &Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{
			DeleteAllOf: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.DeleteAllOfOption) error {
				kind := cmp.Or(o.GetObjectKind().GroupVersionKind().Kind, strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1."))
				if kind == mayNot {
					return forbidden
				}
				removed[kind] = true
				return nil
			},
		})}
		err := cluster.RemoveLoad(t.Context(), &v1alpha1.ReplicationExperiment{})
		if mayNot == "Job" && !apierrors.IsForbidden(err) {
			t.Errorf("Jobs that may not be removed are an error: %v", err)
		}
		if mayNot == "TestRun" && (err != nil || !removed["Job"]) {
			t.Errorf("without the right to TestRuns %v are removed, %v", removed, err)
		}
	}
}

// TestPodsAndClaimsWithoutAnOwnerAreRemoved, those of the experiment alone.
func TestPodsAndClaimsWithoutAnOwnerAreRemoved(t *testing.T) {
	var pods []corev1.Pod
	var claims []corev1.PersistentVolumeClaim
	for name, change := range map[string]func(*metav1.ObjectMeta){
		"orphan":     func(*metav1.ObjectMeta) {},
		"owned":      func(m *metav1.ObjectMeta) { m.OwnerReferences = []metav1.OwnerReference{{Name: "x-db"}} },
		"going":      func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
		"somebody's": func(m *metav1.ObjectMeta) { delete(m.Labels, kube.LabelManagedBy) },
	} {
		m := func(kind string) metav1.ObjectMeta {
			m := metav1.ObjectMeta{Name: kind + " " + name, UID: types.UID(name), Labels: map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "x"}}
			change(&m)
			return m
		}
		pods = append(pods, corev1.Pod{ObjectMeta: m("pod")})
		claims = append(claims, corev1.PersistentVolumeClaim{ObjectMeta: m("claim")})
	}
	var deleted []string
	cluster := &Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(options)
			if o.LabelSelector.String() != kube.LabelExperiment+"=x" {
				t.Errorf("%T are asked for by %s", list, o.LabelSelector)
			}
			switch found := list.(type) {
			case *corev1.PersistentVolumeClaimList:
				found.Items = claims
			case *corev1.PodList:
				found.Items = pods
			}
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			d := client.DeleteOptions{}
			d.ApplyOptions(options)
			if d.Preconditions == nil || *d.Preconditions.UID != o.GetUID() {
				t.Errorf("%s is deleted whichever it is", o.GetName())
			}
			if d.GracePeriodSeconds != nil {
				t.Errorf("%s has %d s to end, and not its own", o.GetName(), *d.GracePeriodSeconds)
			}
			deleted = append(deleted, o.GetName())
			return nil
		},
	})}
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	left, err := cluster.RemoveOrphans(t.Context(), x)
	if err != nil || left != len(pods)+len(claims) || !slices.Equal(deleted, []string{"pod orphan", "claim orphan"}) {
		t.Errorf("%d left, deleted %v: %v", left, deleted, err)
	}
}

// TestWhatAnotherOperatorMakesNodesOfIsRemovedFirst, and what their pods need once they are gone. Where it may not be removed and may be there, the
// nodes stay as they are: that operator would make anew what is deleted of them.
func TestWhatAnotherOperatorMakesNodesOfIsRemovedFirst(t *testing.T) {
	notServed := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "postgresql"}}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "acid.zalan.do", Resource: "postgresqls"}, "", errors.New("no such right"))
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "x-credentials")
	broken := errors.New("no connection")
	for name, c := range map[string]struct {
		pods         int
		begun        bool
		secret       error // the answer to whoever reads the experiment's
		answer       error // to the deletion of the other operator's kind
		nodes, files bool  // are removed: their StatefulSet, and the ConfigMaps
		fails        error
	}{
		"with pods":                                 {2, true, nil, nil, true, false, nil},
		"without":                                   {0, true, nil, nil, true, true, nil},
		"without that operator's kinds":             {0, true, nil, notServed, true, true, nil},
		"not allowed, and nothing was made":         {0, false, nil, forbidden, true, true, nil},
		"not allowed, and an earlier one has pods":  {2, false, nil, forbidden, true, false, nil},
		"not allowed any more":                      {2, true, nil, forbidden, false, false, topology.ErrForbidden},
		"not allowed any more, and no pod for now":  {0, true, nil, forbidden, false, false, topology.ErrForbidden},
		"not allowed any more, and all was removed": {0, true, gone, forbidden, true, true, nil},
		"nobody can tell whether it was":            {0, true, broken, forbidden, false, false, broken},
		"nobody can tell":                           {0, true, nil, broken, false, false, broken},
	} {
		a := &removal{pods: c.pods, secret: c.secret, answer: c.answer}
		left, err := (&Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{Get: a.get, List: a.list, DeleteAllOf: a.deleteAllOf, Delete: a.delete})}).Remove(t.Context(), ofAnother(c.begun))
		if !errors.Is(err, c.fails) || c.fails == nil && (err != nil || left != c.pods+1) {
			t.Errorf("%s: %d left, %v", name, left, err)
		}
		if c.answer == nil && a.deleted[0] != "postgresql" {
			t.Errorf("%s: %v are removed in this order", name, a.deleted)
		}
		if slices.Contains(a.ofNodes, "*v1.StatefulSet") != c.nodes || slices.Contains(a.deleted, "*v1.ConfigMap") != c.files {
			t.Errorf("%s: %v are removed, and of nodes %v", name, a.deleted, a.ofNodes)
		}
		if slices.Contains(a.deleted, "data") != (c.fails == nil) {
			t.Errorf("%s: %v are removed: a claim without an owner goes when its node has gone, and else stays", name, a.deleted)
		}
		if errors.Is(c.fails, topology.ErrForbidden) && (!slices.Contains(a.deleted, "*v1.Deployment") || !strings.Contains(fmt.Sprint(err), "no such right")) {
			t.Errorf("%s: %v are removed, with %v", name, a.deleted, err)
		}
	}
}

// ofAnother is an experiment whose nodes another operator makes.
func ofAnother(begun bool) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	x.Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando}}
	if begun {
		x.Status.StartTime = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return x
}

// removal is a cluster with pods and a claim of an experiment, and what was deleted there.
type removal struct {
	pods             int
	secret           error    // the answer to whoever reads the experiment's
	answer           error    // to the deletion of the other operator's kind
	deleted, ofNodes []string // kinds and claims, and kinds of which those of nodes were
}

func (r *removal) get(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if _, ok := o.(*corev1.ConfigMap); ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name) // none was made anew
	}
	if _, ok := o.(*corev1.Secret); !ok || key.Name != "x-credentials" {
		return fmt.Errorf("nobody reads %T %s", o, key.Name)
	}
	return r.secret
}

func (r *removal) list(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
	switch found := list.(type) {
	case *corev1.PodList:
		found.Items = make([]corev1.Pod, r.pods)
	case *corev1.PersistentVolumeClaimList:
		found.Items = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{kube.LabelManagedBy: kube.ManagedBy}}}}
	}
	return nil
}

func (r *removal) delete(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
	r.deleted = append(r.deleted, o.GetName())
	return nil
}

func (r *removal) deleteAllOf(_ context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteAllOfOption) error {
	asked := client.DeleteAllOfOptions{}
	asked.ApplyOptions(options)
	if asked.LabelSelector.Matches(labels.Set{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "x", kube.LabelComponent: kube.ComponentLoad}) &&
		!asked.LabelSelector.Matches(labels.Set{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "x", kube.LabelComponent: kube.ComponentProxy}) {
		return nil // the load's, which comes before
	}
	kind := fmt.Sprintf("%T", o)
	if u, ok := o.(*unstructured.Unstructured); ok {
		if kind = u.GetKind(); r.answer != nil {
			return r.answer
		}
	}
	r.deleted = append(r.deleted, kind)
	if asked.LabelSelector.Matches(labels.Set{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "x", kube.LabelComponent: kube.ComponentNode}) {
		r.ofNodes = append(r.ofNodes, kind)
	}
	return nil
}
