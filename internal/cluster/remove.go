package cluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	runners "replab.dev/internal/load/registry"
	"replab.dev/internal/topology"
	topologies "replab.dev/internal/topology/registry"
)

// removed are the kinds that a plan has beside the load, those with pods first. Claims go with their StatefulSets.
var removed = []client.Object{
	&batchv1.Job{}, &appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{},
	&corev1.ConfigMap{}, &corev1.Secret{}, &networkingv1.NetworkPolicy{}, &coordinationv1.Lease{}, &corev1.ServiceAccount{}, &rbacv1.RoleBinding{}, &rbacv1.Role{},
}

// withPods is how many of removed have pods.
const withPods = 3

// kinds to remove of an experiment. Where another operator makes the nodes, the object that it makes them of goes first, so that it makes
// none anew, and what the pods need as long as they run goes once they are gone.
func (c *Cluster) kinds(ctx context.Context, x *v1alpha1.ReplicationExperiment) ([]client.Object, error) {
	foreign := topologies.Foreign(x.Spec.Topology)
	if foreign == nil {
		return removed, nil
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(foreign.ForeignKind().GroupVersionKind)
	pods, err := c.Pods(ctx, x)
	if err != nil {
		return nil, err
	}
	if len(pods) > 0 {
		return append([]client.Object{object}, removed[:withPods]...), nil
	}
	return append([]client.Object{object}, removed...), nil
}

// Remove deletes everything of an experiment but its results. It returns how many pods and claims are still there. Where what another operator
// makes the nodes of may be there, and may not be deleted, the nodes stay with all that they need, and the error is topology.ErrForbidden: that
// operator would make anew what is deleted of them.
func (c *Cluster) Remove(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	if err := c.RemoveLoad(ctx, x); err != nil {
		return 0, err
	}
	kinds, err := c.kinds(ctx, x)
	if err != nil {
		return 0, err
	}
	for _, kind := range kinds {
		err := c.removeAll(ctx, x, kind, kube.ComponentResults, kube.ComponentRemains)
		if mayNot := err; isForeign(x, kind) && apierrors.IsForbidden(mayNot) {
			var made bool
			if made, err = c.made(ctx, x); made {
				return 0, c.removeBesideNodes(ctx, x, mayNot)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return c.RemoveOrphans(ctx, x)
}

// made tells whether an experiment has begun, and what was deployed for it may still be there: its Secret is made before all else, and removed
// with what the nodes' pods need, once they and what they are made of are gone.
func (c *Cluster) made(ctx context.Context, x *v1alpha1.ReplicationExperiment) (bool, error) {
	if x.Status.StartTime == nil {
		return false, nil
	}
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = x.Namespace, kube.SecretName(x.Name)
	there, err := c.Get(ctx, secret)
	if err != nil {
		return false, fmt.Errorf("see whether experiment %s still has its Secret: %w", x.Name, err)
	}
	return there, nil
}

// removeBesideNodes deletes the pods of an experiment that are not its nodes', whose object may not be removed for the reason given.
func (c *Cluster) removeBesideNodes(ctx context.Context, x *v1alpha1.ReplicationExperiment, why error) error {
	for _, kind := range removed[:withPods] {
		if err := c.removeAll(ctx, x, kind, kube.ComponentResults, kube.ComponentNode); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %w", topology.ErrForbidden, why)
}

// removeAll deletes the objects of a kind that an experiment has, but for some components. Of a kind that the cluster does not know there are none.
func (c *Cluster) removeAll(ctx context.Context, x *v1alpha1.ReplicationExperiment, kind client.Object, but ...string) error {
	selector, err := labels.Parse(fmt.Sprintf("%s=%s,%s=%s,%s notin (%s)",
		kube.LabelManagedBy, kube.ManagedBy, kube.LabelExperiment, x.Name, kube.LabelComponent, strings.Join(but, ",")))
	if err != nil {
		return err
	}
	err = c.Client.DeleteAllOf(ctx, kind, client.InNamespace(x.Namespace), client.MatchingLabelsSelector{Selector: selector},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !unserved(err) {
		return fmt.Errorf("remove objects of experiment %s: %w", x.Name, err)
	}
	return nil
}

// isForeign tells whether an object is of the kind that another operator makes an experiment's nodes of.
func isForeign(x *v1alpha1.ReplicationExperiment, o client.Object) bool {
	foreign := topologies.Foreign(x.Spec.Topology)
	return foreign != nil && o.GetObjectKind().GroupVersionKind() == foreign.ForeignKind().GroupVersionKind
}

// RemoveOrphans deletes what of an experiment goes with nothing. Its claims have no owner where their StatefulSet was deleted before it had made
// itself that, and its pods where another operator took their StatefulSet from them. Once no pod is left, it deletes what the last ones have
// made anew. Of an experiment without a UID the name alone is known, and what Note has kept. It returns how many pods, claims and such objects are still there.
func (c *Cluster) RemoveOrphans(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	pods, err := c.Pods(ctx, x)
	if err != nil {
		return 0, err
	}
	claims, err := c.Claims(ctx, x)
	if err != nil {
		return 0, err
	}
	for i := range pods {
		if err := c.removeOrphan(ctx, x, "pod", &pods[i]); err != nil {
			return 0, err
		}
	}
	for i := range claims {
		if err := c.removeOrphan(ctx, x, "claim", &claims[i]); err != nil {
			return 0, err
		}
	}
	if len(pods) > 0 {
		return len(pods) + len(claims), nil
	}
	known := x
	if x.UID == "" {
		if noted, err := c.noted(ctx, x); err != nil {
			return 0, err
		} else if noted != nil {
			known = noted
		}
	}
	remade, err := c.RemoveRemade(ctx, known)
	if left := len(claims) + remade; err != nil || left > 0 {
		return left, err
	}
	return 0, c.forget(ctx, x)
}

// removeOrphan deletes an object that has no owner.
func (c *Cluster) removeOrphan(ctx context.Context, x *v1alpha1.ReplicationExperiment, kind string, o client.Object) error {
	if o.GetLabels()[kube.LabelManagedBy] != kube.ManagedBy || len(o.GetOwnerReferences()) > 0 || !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	if err := c.Delete(ctx, o); err != nil {
		return fmt.Errorf("remove %s %s of experiment %s: %w", kind, o.GetName(), x.Name, err)
	}
	return nil
}

// RemoveLoad deletes what has k6 run for an experiment, with its pods, whatever runner made it. What may not be deleted is another operator's, and was
// not made, or goes with the experiment: the Jobs that this one makes of it are labelled as the load's, and are deleted.
func (c *Cluster) RemoveLoad(ctx context.Context, x *v1alpha1.ReplicationExperiment) error {
	for _, kind := range runners.Kinds() {
		err := c.Client.DeleteAllOf(ctx, kind, client.InNamespace(x.Namespace),
			client.MatchingLabels{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: x.Name, kube.LabelComponent: kube.ComponentLoad},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		_, another := kind.(*unstructured.Unstructured)
		if err != nil && !unserved(err) && (!another || !apierrors.IsForbidden(err)) {
			return fmt.Errorf("remove the load of experiment %s: %w", x.Name, err)
		}
	}
	return nil
}
