// Package proxy holds what may stand between app and nodes. A driver is pure: it names the objects and files that it wants, and
// says where the app finds the nodes through it.
package proxy

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Driver is one kind of proxy.
type Driver interface {
	// Files are the configuration files of its processes, by name, for the experiment's ConfigMap.
	Files(Params) map[string]string
	// Objects run it.
	Objects(Params) []client.Object
	// Endpoints are where the app writes and reads.
	Endpoints(Params) (writes, reads wire.Endpoint)
	// NeedsImage tells whether Objects run Params.Images.Proxy.
	NeedsImage() bool
	// RolesByLabel tells whether nodes are found by labels of their pods, which the topology then keeps current.
	RolesByLabel() bool
}

// Params are what a driver builds from.
type Params struct {
	Name      string // of the experiment; object names begin with it
	Namespace string
	Labels    map[string]string // of every object
	Spec      v1alpha1.RoutingSpec
	Nodes     []wire.Node
	// Routes are how the topology has its nodes found.
	Routes topology.Routes
	Images v1alpha1.ImagesStatus
	// ClusterDomain is the DNS suffix of Services, such as cluster.local.
	ClusterDomain string
}
