// Package topology holds the drivers of replication topologies and what they have in common. A driver is pure: it names the
// objects that it wants, asks questions, and makes sense of the answers. Others do the asking.
package topology

import (
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// Driver describes one replication topology. It performs no IO.
type Driver interface {
	// System is what is deployed, and what others must know of it.
	System(Params) (System, error)
	// Questions whose answers Assess needs.
	Questions(Params) []Question
	// Assess makes sense of the answers. A missing answer is no reason to fail, it makes the state unknown.
	Assess(Params, Answers) State
	// Switchover is the request that has another node take the writes, as planned, that from takes. Asked again under the same name it
	// changes nothing; what becomes of it is in State.Switchovers. Never called without a failover manager.
	Switchover(p Params, name, from string) Request
}

// Rebuilder is a Driver that keeps old writers apart until it is asked to rebuild them. Nodes of others come back by themselves.
type Rebuilder interface {
	// Rejoin is the request that has an isolated node rebuilt, once its ghosts were counted.
	Rejoin(p Params, node string) Request
}

// System is the system under test behind the proxy.
type System struct {
	// Nodes are the database nodes in their order; the first is the first writer.
	Nodes []wire.Node
	// Objects are the nodes and what keeps them together.
	Objects []kube.Object
	// Files are the configuration files of those objects' processes, by name, for the experiment's ConfigMap.
	Files map[string]string
	// Routes tell how a client finds the nodes by their role.
	Routes Routes
	// Settings are what the nodes' servers run with.
	Settings engine.Settings
	// Clocks are those of State's times that are no node's.
	Clocks []wire.ClockSource
	// Inspects tells that the nodes' agents keep what each held when it was started again: see wire.Inspection.
	Inspects bool
	// CountCommits tells that the servers count the commits that other nodes did and did not acknowledge.
	CountCommits bool
	// CountGroup tells that the servers are members of a group, and count what was in conflict and what was held up in it.
	CountGroup bool
	// CommitWaits is how many other nodes must acknowledge a commit before its client is answered: 0 where it waits for none.
	CommitWaits int
	// StandbysChosen tells that the nodes' manager chooses which nodes a commit waits for, and that the servers name them. Else any will do.
	StandbysChosen bool
	// LossesWhileDegraded tells that the servers may go on without a standby, so that lost writes are told apart by whether one was waited for.
	LossesWhileDegraded bool
	// DegradedBy is the field of the spec by which no commit waits then, with its value; "" where commits wait as long as there is a standby.
	DegradedBy string
	// Independent tells that several nodes take writes without asking each other, and get each other's writes later. What was written is on
	// any of them, and rows that several have changed may differ for good.
	Independent bool
	// ReadsWait tells that a read is answered only once its node has what the others had committed.
	ReadsWait bool
	// Store tells that the nodes agree on the writer in the API server: a writer that cannot reach it gives the writes up, or keeps them.
	Store bool
	// Pods is how many pods of nodes other controllers make of Objects, beside those of Objects' own templates.
	Pods int
	// Guests are pods of other controllers that have business with the nodes.
	Guests []Guest
}

// Guest is a pod with these labels in this namespace, and the ports of the nodes that it comes to. No field may be empty: an empty one
// would let in any pod with such a label, or of any namespace.
type Guest struct {
	Namespace string
	Labels    map[string]string
	Ports     []int
}

// Params are what a driver builds from.
type Params struct {
	Name      string // of the experiment; object names begin with it
	Namespace string
	Labels    map[string]string // of every object
	Spec      v1alpha1.TopologySpec
	Faults    []v1alpha1.Fault
	// RolesByLabel tells whether clients find nodes by labels of their pods: the topology then keeps these current.
	RolesByLabel bool
	// WriteAll tells that clients write to every node that takes writes, where there are several.
	WriteAll bool
	Images   v1alpha1.ImagesStatus
	// ClusterDomain is the DNS suffix of Services, such as cluster.local.
	ClusterDomain string
	// Engine is the name of the server that the nodes run, and Server what it is.
	Engine string
	Server engine.Server
	// PlatformUser leaves the users of pods to the platform.
	PlatformUser bool
	// NodePods is what is asked of the nodes' pods, for a driver whose objects have no template of them: where they run (but for other pods'
	// places), their priority, annotations and resources.
	NodePods v1alpha1.PodSettings
	// Foreign is the operator that makes the nodes where this one does not, as far as this one's configuration says it.
	Foreign wire.ForeignOperator
}

// NodeResources are what the nodes' servers ask for: what the topology says, or else what is asked of the nodes' pods.
func (p Params) NodeResources() corev1.ResourceRequirements {
	if r := p.Spec.Resources; r.Requests != nil || r.Limits != nil || p.NodePods.Resources == nil {
		return r
	}
	return *p.NodePods.Resources
}

// Host is the DNS name of a Service of the experiment, or of a pod as pod.service.
func (p Params) Host(service string) string {
	return service + "." + p.Namespace + ".svc." + p.ClusterDomain
}

// Routes are the SQL endpoints by role without a proxy, and how a proxy learns the roles: a GET of a path on CheckPort of each node that
// answers 200 where the role fits.
type Routes struct {
	Port       int
	CheckPort  int
	WriterPath string
	ReaderPath string
	Writer     wire.Endpoint
	Readers    wire.Endpoint
	// Several nodes answer WriterPath at once: a proxy that writes to one of them chooses it.
	Several bool
	// Sign is how a server itself shows its role to SQL clients.
	Sign Sign
}

// Sign of a server's role.
type Sign int

// Signs.
const (
	SignReadOnly   Sign = iota // the writer alone is not read-only
	SignMembership             // every member of a Galera cluster takes writes, and tells its state
)

// Question is a GET of a URL inside the cluster.
type Question struct {
	Name string
	URL  string
}

// Answer to a Question: its body, or why there is none.
type Answer struct {
	Body []byte
	Err  string
}

// Answers by the questions' names.
type Answers map[string]Answer

// Request asks a process for an act, with the experiment's token.
type Request struct {
	Method string
	URL    string
	Body   []byte
}

// State is what a topology's answers amount to.
type State struct {
	// Known is false when nothing could be learnt: everything else then is empty, and Why says why.
	Known bool `json:"known,omitempty"`
	// Deployed tells that every node was once in its place.
	Deployed bool `json:"deployed,omitempty"`
	// Writers are the nodes that take writes, or are to again as soon as they can, in the order of Nodes. Empty while that is unknown.
	Writers []string `json:"writers,omitempty"`
	// Independent: see System.
	Independent bool `json:"independent,omitempty"`
	// Silent are the nodes that did not answer, where each node is asked: what they alone know is missing here.
	Silent []string    `json:"silent,omitempty"`
	Nodes  []NodeState `json:"nodes,omitempty"`
	// Failovers in their order; the last may be under way.
	Failovers []Failover `json:"failovers,omitempty"`
	// Switchovers that were asked for, in their order.
	Switchovers []Switchover `json:"switchovers,omitempty"`
	// OldServes tells that after a planned change the old writer goes on taking what clients still send it: see Failover.OldServes.
	OldServes bool `json:"oldServes,omitempty"`
	// RestartsInPlace are the times at which a writer whose server was lost took its place again, in their order: no failovers.
	RestartsInPlace []RestartInPlace `json:"restartsInPlace,omitempty"`
	// Absences are the times at which nodes were not in their places, in the order in which they began.
	Absences []Absence `json:"absences,omitempty"`
	// Manager are the settings by which the nodes' manager decides, as it tells them itself and by its own names of them; nil without one, and
	// where none has told them. Nothing is decided by them.
	Manager map[string]string `json:"manager,omitempty"`
	// Why says what the topology waits for, in words.
	Why string `json:"why,omitempty"`
}

// NodeState is one node. The director tells it as it is, so wire has it.
type NodeState = wire.NodeView

// Node returns the state of a node, or a down one for a name it does not know.
func (s State) Node(name string) NodeState {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n
		}
	}
	return NodeState{Name: name, Role: Down}
}

// ErrForbidden is of an object that another operator makes nodes of, and that this operator may not touch.
var ErrForbidden = errors.New("this operator may not touch another operator's object")

// Foreign is a Driver whose nodes another operator makes, from an object of a kind of its own. It performs no IO.
type Foreign interface {
	// ForeignKind of that object.
	ForeignKind() kube.ForeignKind
	// Object is that one as it is planned. Everything else that belongs to the nodes that operator makes.
	Object(Params) *unstructured.Unstructured
	// Hopeless says why the object comes to nothing, and what to do; "" while it may come to something.
	Hopeless(Params, Found) string
}

// Remaker is a Foreign whose nodes' pods make objects that stay behind them.
type Remaker interface {
	// Remade is what the nodes' pods make anew while they end, of what was removed before them.
	Remade(Params) Remade
}

// Remade are objects without an owner. Earlier objects of the same names belonged to the experiment and had its labels.
type Remade struct {
	// Set is the StatefulSet of the pods that make them.
	Set string
	// ConfigMaps by name.
	ConfigMaps []string
	// Labels of the pods, and of what they make.
	Labels map[string]string
}

// Found is what there is of an object that another operator carries out.
type Found struct {
	Object *unstructured.Unstructured // nil when it is gone
	// Set are the nodes that were made of it: the StatefulSet of its name, nil while there is none, and where that operator makes pods by itself.
	Set *appsv1.StatefulSet
	// Applied is for how long the object has been there.
	Applied time.Duration
	// LastEvent about it, "" without one.
	LastEvent string
}
