package controllers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"replab.dev/internal/wire"
)

// electionTimeout of a request is half of what a leader has to renew the Lease, so that one that hangs does not end its term.
const electionTimeout = 5 * time.Second

// lockOf is nil where nobody is elected, and outside of a pod, where controller-runtime says what is missing.
func lockOf(ctx context.Context, config *rest.Config, cfg wire.OperatorConfig) (resourcelock.Interface, error) {
	namespace := os.Getenv("POD_NAMESPACE")
	if !cfg.LeaderElection || namespace == "" {
		return nil, nil
	}
	lock, err := Lock(ctx, config, namespace, cmp.Or(cfg.Name, defaultName))
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// Lock is the Lease by which the replicas of an installation elect the one that works: they, their Deployment and the Lease have one name. The
// Deployment owns it, so that it goes with that, whoever removes it and by what. No chart could: its Lease would be another one than those that
// operators have made before, and one that is still ending would make it anew.
func Lock(ctx context.Context, config *rest.Config, namespace, name string) (*resourcelock.LeaseLock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	config.Timeout = electionTimeout
	apps, err := appsv1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	owners, err := ownersOf(ctx, apps, namespace, name)
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     &ownedLeases{LeasesGetter: leases, owners: owners},
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}, nil
}

// ownersOf the Lease: the Deployment, or nobody where there is none or it may not be read. An operator works without, and leaves its Lease behind.
func ownersOf(ctx context.Context, apps appsv1client.DeploymentsGetter, namespace, name string) ([]metav1.OwnerReference, error) {
	deployment, err := apps.Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		log.FromContext(ctx).Info("the Lease of the election stays when the operator is removed: its Deployment cannot be read", "deployment", name, "because", err.Error())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Deployment %s/%s, which owns the Lease of the election: %w", namespace, name, err)
	}
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: deployment.Name, UID: deployment.UID}}, nil
}

// ownedLeases are Leases that are made with owners. One that is there gets them when it is first written: operators of an earlier release have
// made it without, or it is still of a Deployment that was removed. Not later: who takes them off then, as a removal that orphans does, wants it so.
type ownedLeases struct {
	coordinationv1client.LeasesGetter
	owners []metav1.OwnerReference
	given  bool
}

// Leases implements the interface that client-go's lock asks.
func (l *ownedLeases) Leases(namespace string) coordinationv1client.LeaseInterface {
	return ownedWrites{l.LeasesGetter.Leases(namespace), l}
}

type ownedWrites struct {
	coordinationv1client.LeaseInterface
	all *ownedLeases
}

func (w ownedWrites) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	lease.OwnerReferences = w.all.owners
	made, err := w.LeaseInterface.Create(ctx, lease, o)
	w.all.given = w.all.given || err == nil
	return made, err
}

func (w ownedWrites) Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if !w.all.given && w.all.owners != nil {
		lease.OwnerReferences = w.all.owners
	}
	written, err := w.LeaseInterface.Update(ctx, lease, o)
	w.all.given = w.all.given || err == nil
	return written, err
}
