// Package topology holds the drivers of replication topologies and what they have in common. A driver is pure: it names the
// objects that it wants, asks questions, and makes sense of the answers. Others do the asking.
package topology

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
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
	// Rejoin is the request that has an isolated node rebuilt, once its ghosts were counted.
	Rejoin(p Params, node string) Request
	// Switchover is the request that has another node take the writes, as planned, that from takes. Asked again under the same name it
	// changes nothing; what becomes of it is in State.Switchovers. Of a topology that has nobody to ask none is ever asked for.
	Switchover(p Params, name, from string) Request
}

// System is the system under test behind the proxy.
type System struct {
	// Nodes are the database nodes in their order; the first is the first writer.
	Nodes []wire.Node
	// Objects are the nodes and what keeps them together.
	Objects []client.Object
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
	// ReadsWait tells that a read is answered only once its node has what the others had committed.
	ReadsWait bool
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
	// Sign is how a server itself shows its role to who asks it by SQL.
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
	Known bool
	// Deployed tells that every node was once in its place.
	Deployed bool
	// Writers are the nodes that take writes, or are to again as soon as they can, in the order of Nodes.
	Writers []string
	Nodes   []NodeState
	// Failovers in their order; the last may be under way.
	Failovers []Failover
	// Switchovers that were asked for, in their order.
	Switchovers []Switchover
	// Absences are the times at which nodes were not in their places, in the order in which they began.
	Absences []Absence
	// Why says what the topology waits for, in words.
	Why string
}

// NodeState is one node.
type NodeState struct {
	Name     string
	Role     Role
	CaughtUp bool // has applied all that the writers have executed
	Why      string
	// GhostTransactions of an isolated node, nil when not counted.
	GhostTransactions *int64
	Rejoin            string // see wire.RejoinDone and its neighbours
}

// Failover by the clock of the topology's own manager.
type Failover struct {
	// Clock is the name of that clock: a node's, or that of a process of the topology's own.
	Clock                string
	OldWriter, NewWriter string
	DetectedAt           metav1.MicroTime
	PromotedAt           *metav1.MicroTime
	// RelayApplied tells that the new writer had applied all that it had received.
	RelayApplied bool
	// Waits tells that the group still counted the old writer when the new one took over, at PromotedAt: how much longer commits waited for it
	// is not known.
	Waits bool
	// Planned: it was asked for, at DetectedAt. The old writer took no writes any more when the new one had all of its own, unless OldServes.
	Planned bool
	// OldServes: the old writer goes on taking what clients still send it.
	OldServes bool
}

// Switchover is a planned change of the writer, by the clock of the topology's own manager.
type Switchover struct {
	Name        string // that it was asked for under
	Clock       string // see Failover
	RequestedAt metav1.MicroTime
	OldWriter   string
	NewWriter   string
	Outcome     SwitchoverOutcome
	Why         string // it failed, or what it waits for
}

// SwitchoverOutcome is how far a planned change has come.
type SwitchoverOutcome int

// Outcomes. One that failed has left the old writer in its place.
const (
	SwitchoverUnderWay SwitchoverOutcome = iota
	SwitchoverDone
	SwitchoverFailed
)

// Absence is a time at which a node did not take writes as a writer, nor follow one.
type Absence struct {
	Node   string
	Clock  string // see Failover
	LeftAt metav1.MicroTime
	// RequestedAt is when it was asked to come back, where it was kept apart until then.
	RequestedAt *metav1.MicroTime
	// BackAt is when it was in its place again, a reader with all that had been applied elsewhere.
	BackAt *metav1.MicroTime
	// By is the way that it came back where the topology knows; else it is that of the fault. This and Transfer are in the API's own
	// words: each is the way of one topology or engine, to be stated as it is told, and nothing is decided by them.
	By v1alpha1.RejoinWay
	// Transfer is how it got the others' data, nil where it needed none or nothing is known of it.
	Transfer *v1alpha1.TransferStatus
}

// Switchover returns the planned change that was asked for under a name, nil when none was.
func (s State) Switchover(name string) *Switchover {
	for i := range s.Switchovers {
		if s.Switchovers[i].Name == name {
			return &s.Switchovers[i]
		}
	}
	return nil
}

// Node returns the state of a node, or a down one for a name it does not know.
func (s State) Node(name string) NodeState {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n
		}
	}
	return NodeState{Name: name, Role: Down}
}
