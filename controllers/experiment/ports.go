package experiment

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/controllers/experiment/distance"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/controllers/experiment/leftovers"
	"replab.dev/controllers/lease"
	"replab.dev/internal/topology"
)

// Cluster reads and writes the objects of one experiment. Each part stands where it is used.
type Cluster interface {
	maker
	trier
	notes
	observed
	machineReader
	removal
	deleter
	lease.Objects
	fault.Deleter
	diagnose.Words
	leftovers.Orphans
}

// maker makes the objects of the plan, which most steps do.
type maker interface {
	// Apply makes an object as given, owned by the experiment: server-side, under replab's field owner.
	Apply(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
	// Create makes an object that must never be made twice. An object of that name and owner that exists is fine.
	Create(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
}

// Processes talks to the experiment's processes over HTTP. Each part stands where it is used.
type Processes interface {
	asked
	sender
	finisher
	k6s
	fault.Agents
	distance.Agents
}

// sender makes a topology's requests.
type sender interface {
	// Send makes a request with the experiment's token.
	Send(ctx context.Context, token string, r topology.Request) ([]byte, error)
}
