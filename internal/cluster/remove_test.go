package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
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

// TestClaimsWithoutAnOwnerAreRemoved, those of the experiment alone.
func TestClaimsWithoutAnOwnerAreRemoved(t *testing.T) {
	claim := func(name, experiment string, change func(*corev1.PersistentVolumeClaim)) corev1.PersistentVolumeClaim {
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
			kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: experiment,
		}}}
		change(&c)
		return c
	}
	claims := []corev1.PersistentVolumeClaim{
		claim("orphan", "x", func(*corev1.PersistentVolumeClaim) {}),
		claim("owned", "x", func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = []metav1.OwnerReference{{Name: "x-db"}} }),
		claim("going", "x", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }),
		claim("somebody's", "x", func(c *corev1.PersistentVolumeClaim) { delete(c.Labels, kube.LabelManagedBy) }),
	}
	var deleted []string
	cluster := &Cluster{Client: interceptor.NewClient(nil, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(options)
			if found, ok := list.(*corev1.PersistentVolumeClaimList); ok && o.LabelSelector.String() == kube.LabelExperiment+"=x" {
				found.Items = claims
			}
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			d := client.DeleteOptions{}
			d.ApplyOptions(options)
			if d.Preconditions == nil || *d.Preconditions.UID != o.GetUID() {
				t.Errorf("claim %s is deleted whichever it is", o.GetName())
			}
			deleted = append(deleted, o.GetName())
			return nil
		},
	})}
	x := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	left, err := cluster.RemoveOrphans(t.Context(), x)
	if err != nil || left != len(claims) || !slices.Equal(deleted, []string{"orphan"}) {
		t.Errorf("%d left, deleted %v: %v", left, deleted, err)
	}
}
