// Package proxy holds what may stand between app and nodes. A driver is pure: it names the objects and files that it wants, and
// says where the app finds the nodes through it.
package proxy

import (
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Driver is one kind of proxy.
type Driver interface {
	// Traits are the same in every experiment.
	Traits() Traits
	// System is what is deployed, and what others must know of it.
	System(Params) System
}

// Traits of a kind of proxy.
type Traits struct {
	// NeedsImage tells whether System.Objects run Params.Images.Proxy.
	NeedsImage bool
	// Metrics tells whether Prometheus may ask its pod at wire.PortProxyStats: there is nothing else that could be done there.
	Metrics bool
	// RolesByLabel tells whether nodes are found by labels of their pods, which the topology then keeps current.
	RolesByLabel bool
}

// System is the proxy of one experiment.
type System struct {
	Paths Paths
	// Objects run it.
	Objects []kube.Object
	// Files are the configuration files of its processes, by name, for the experiment's ConfigMap.
	Files map[string]string
	// Settings decide when it notices a node's state, and what it does with a statement. The results show them.
	Settings map[string]string
}

// Paths lead to the nodes.
type Paths struct {
	Writes wire.Endpoint // of the app, and of the probe of the lag
	Reads  wire.Endpoint // of the app
	Seed   wire.Endpoint // by which the users are loaded, while the first node is the writer
	// NotSent are the numbers of errors that certainly are the proxy's own, which has sent nothing of a statement to any server.
	NotSent []uint16
	// SendsTwice tells that a statement whose server was lost may be sent again to another, for which two answers on one connection
	// may be of two servers.
	SendsTwice bool
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
	// RoundTrip is the longest between the proxy and a node, by topology.links: timeouts are longer by what they have to wait for it.
	RoundTrip time.Duration
	// ReadsReplicas tells whether reads go elsewhere than writes.
	ReadsReplicas bool
	// ClusterDomain is the DNS suffix of Services, such as cluster.local.
	ClusterDomain string
}
