package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	runners "replab.dev/internal/load/registry"
)

// removed are the kinds that a plan has beside the load, those with pods first. Claims go with their StatefulSets.
var removed = []client.Object{
	&batchv1.Job{}, &appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{},
	&corev1.ConfigMap{}, &corev1.Secret{}, &networkingv1.NetworkPolicy{}, &coordinationv1.Lease{}, &corev1.ServiceAccount{}, &rbacv1.RoleBinding{}, &rbacv1.Role{},
}

// Remove deletes everything of an experiment but its results. It returns how many pods and claims are still there.
func (c *Cluster) Remove(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	selector, err := labels.Parse(fmt.Sprintf("%s=%s,%s=%s,%s!=%s",
		kube.LabelManagedBy, kube.ManagedBy, kube.LabelExperiment, x.Name, kube.LabelComponent, kube.ComponentResults))
	if err != nil {
		return 0, err
	}
	if err := c.RemoveLoad(ctx, x); err != nil {
		return 0, err
	}
	for _, kind := range removed {
		err := c.Client.DeleteAllOf(ctx, kind, client.InNamespace(x.Namespace), client.MatchingLabelsSelector{Selector: selector},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil {
			return 0, fmt.Errorf("remove objects of experiment %s: %w", x.Name, err)
		}
	}
	return c.RemoveOrphans(ctx, x)
}

// RemoveOrphans deletes the claims of an experiment that have no owner: their StatefulSet was deleted before it had made itself
// their owner, and so they do not go with it. It returns how many pods and claims are still there.
func (c *Cluster) RemoveOrphans(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	pods, err := c.Pods(ctx, x)
	if err != nil {
		return 0, err
	}
	claims, err := c.Claims(ctx, x)
	if err != nil {
		return 0, err
	}
	for i := range claims {
		if claim := &claims[i]; orphaned(claim) {
			if err := c.Delete(ctx, claim); err != nil {
				return 0, fmt.Errorf("remove claim %s of experiment %s: %w", claim.Name, x.Name, err)
			}
		}
	}
	return len(pods) + len(claims), nil
}

func orphaned(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Labels[kube.LabelManagedBy] == kube.ManagedBy && len(claim.OwnerReferences) == 0 && claim.DeletionTimestamp.IsZero()
}

// RemoveLoad deletes what has k6 run for an experiment, with its pods, whatever runner made it.
func (c *Cluster) RemoveLoad(ctx context.Context, x *v1alpha1.ReplicationExperiment) error {
	for _, kind := range runners.Kinds() {
		err := c.Client.DeleteAllOf(ctx, kind, client.InNamespace(x.Namespace),
			client.MatchingLabels{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: x.Name, kube.LabelComponent: kube.ComponentLoad},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("remove the load of experiment %s: %w", x.Name, err)
		}
	}
	return nil
}
