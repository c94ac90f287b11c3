package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/bounded"
	"replab.dev/internal/kube"
	topologies "replab.dev/internal/topology/registry"
)

// The ConfigMap NAME-remains has no owner: it outlives an experiment whose nodes another operator makes, and tells whichever operator comes
// next what may be left of that experiment. It goes when nothing is left.
const (
	remainsKey  = "experiment.json"
	remainsMost = 1 << 20 // bytes of memory
)

func remainsOf(x *v1alpha1.ReplicationExperiment) *corev1.ConfigMap {
	labels := map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: x.Name}
	return &corev1.ConfigMap{ObjectMeta: kube.Meta(x.Namespace, x.Name+"-remains", kube.ComponentRemains, labels)}
}

// Note keeps what RemoveOrphans has to know of an experiment that is gone. It comes before anything that may be left behind.
func (c *Cluster) Note(ctx context.Context, x *v1alpha1.ReplicationExperiment) error {
	if topologies.Foreign(x.Spec.Topology) == nil {
		return nil
	}
	noted := &v1alpha1.ReplicationExperiment{}
	noted.UID, noted.CreationTimestamp, noted.Status.StartTime = x.UID, x.CreationTimestamp, x.Status.StartTime
	noted.Spec.Topology = x.Spec.Topology
	text, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	m := remainsOf(x)
	m.Data = map[string]string{remainsKey: string(text)}
	if err := c.Client.Create(ctx, m, FieldOwner); !apierrors.IsAlreadyExists(err) {
		return err
	}
	found, err := c.noted(ctx, x)
	if err == nil && (found == nil || found.UID != x.UID) {
		err = apierrors.NewBadRequest(fmt.Sprintf("ConfigMap %s exists and does not belong to experiment %s: delete it, or name the experiment otherwise", m.Name, x.Name))
	}
	return err
}

// noted is the experiment of this name that Note has kept, nil without one.
func (c *Cluster) noted(ctx context.Context, x *v1alpha1.ReplicationExperiment) (*v1alpha1.ReplicationExperiment, error) {
	m := remainsOf(x)
	if there, err := c.Get(ctx, m); err != nil || !there {
		return nil, err
	}
	found := &v1alpha1.ReplicationExperiment{}
	if m.Labels[kube.LabelManagedBy] != kube.ManagedBy || bounded.Unmarshal([]byte(m.Data[remainsKey]), found, remainsMost) != nil {
		return nil, nil // somebody else's
	}
	found.Namespace, found.Name = x.Namespace, x.Name
	return found, nil
}

// forget removes what Note has kept.
func (c *Cluster) forget(ctx context.Context, x *v1alpha1.ReplicationExperiment) error {
	m := remainsOf(x)
	if there, err := c.Get(ctx, m); err != nil || !there || m.Labels[kube.LabelComponent] != kube.ComponentRemains {
		return err
	}
	return c.removeOne(ctx, m, remainsOf(x).Labels)
}
