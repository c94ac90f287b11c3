package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	topologies "replab.dev/internal/topology/registry"
)

// RemoveRemade deletes what the pods of an experiment's nodes have made anew, where another operator makes these. Nothing of the experiment is on
// it: it is told by its name, its labels, its age, and by being nobody's. An experiment that has not begun has had no such pods. It returns how
// many objects there were.
func (c *Cluster) RemoveRemade(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	remaker, ok := topologies.Foreign(x.Spec.Topology).(topology.Remaker)
	if !ok || x.Status.StartTime == nil {
		return 0, nil
	}
	remade := remaker.Remade(topology.Params{Name: x.Name, Namespace: x.Namespace})
	found, err := c.remade(ctx, x, remade)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	// Asked after they were read: whoever makes nodes of these names later has others.
	if inUse, err := c.inUse(ctx, x.Namespace, remade); err != nil || inUse {
		return 0, err
	}
	for i := range found {
		if err := c.removeOne(ctx, &found[i], remade.Labels); err != nil {
			return 0, fmt.Errorf("remove ConfigMap %s, which was made anew for experiment %s: %w", found[i].Name, x.Name, err)
		}
	}
	return len(found), nil
}

// remade are the ConfigMaps that are no older than the experiment, and that nobody owns.
func (c *Cluster) remade(ctx context.Context, x *v1alpha1.ReplicationExperiment, remade topology.Remade) ([]corev1.ConfigMap, error) {
	var found []corev1.ConfigMap
	for _, name := range remade.ConfigMaps {
		o := corev1.ConfigMap{}
		o.Namespace, o.Name = x.Namespace, name
		there, err := c.Get(ctx, &o)
		if err != nil {
			return nil, fmt.Errorf("see whether ConfigMap %s was made anew for experiment %s: %w", name, x.Name, err)
		}
		ofNodes := labels.SelectorFromSet(remade.Labels).Matches(labels.Set(o.Labels))
		if there && ofNodes && len(o.OwnerReferences) == 0 && !o.CreationTimestamp.Before(&x.CreationTimestamp) {
			found = append(found, o)
		}
	}
	return found, nil
}

// inUse tells whether there are nodes of these names, whoever has them made: they need what they keep there.
func (c *Cluster) inUse(ctx context.Context, namespace string, remade topology.Remade) (bool, error) {
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name = namespace, remade.Set
	if there, err := c.Get(ctx, set); err != nil || there {
		return there, err
	}
	var pods corev1.PodList
	err := c.Client.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels(remade.Labels), client.Limit(1))
	return len(pods.Items) > 0, err
}

// removeOne deletes this very ConfigMap, as one of all that there are: the operator has no right to delete others than by their labels.
func (c *Cluster) removeOne(ctx context.Context, o *corev1.ConfigMap, with map[string]string) error {
	err := c.Client.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(o.Namespace), client.MatchingLabels(with),
		client.MatchingFields{"metadata.name": o.Name}, client.Preconditions{UID: ptr.To(o.UID)})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone, or another one by now
	}
	return err
}
