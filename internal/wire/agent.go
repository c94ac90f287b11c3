package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths of the agent, port PortAgent. GETs need no token: proxies and kubelet ask them.
const (
	AgentPathHealth     = "/healthz"      // 200 while the agent runs
	AgentPathReady      = "/ready"        // 200 while the server answers a query
	AgentPathPrimary    = "/primary"      // 200 while the server is writable and is to be, by its lease, its group or its manager, whichever it has
	AgentPathReplica    = "/replica"      // 200 while the server is read-only and applies what it receives, also while its source is away
	AgentPathState      = "/state"        // GET NodeState
	AgentPathResources  = "/resources"    // GET Resources; 503 while no server runs
	AgentPathLease      = "/lease"        // POST Lease: the right to be writable until it expires; 404 where the topology has no leases
	AgentPathFence      = "/fence"        // POST: the lease is void, read-only for everybody now; 503: not yet, it goes on trying; 404 as above
	AgentPathLinks      = "/links"        // PUT Links, again and again with the same effect; GET and DELETE (end all): LinksState
	AgentPathLinkCounts = "/links/counts" // GET LinkCounts
	AgentPathRoundTrips = "/roundtrips"   // POST RoundTripRequest: RoundTrips, once they are measured
	AgentPathFaults     = "/faults/"      // PUT FaultRequest, GET and DELETE (release) by the fault's name: FaultRecord
)

// AgentConfig configures `replab agent`, the sidecar.
type AgentConfig struct {
	Listen   string   `json:"listen"`   // ":8300"
	Engine   string   `json:"engine"`   // "MySQL"
	Server   []string `json:"server"`   // argv of the server, by which it is known among the pod's processes
	Process  string   `json:"process"`  // comm of the server's process: "mysqld"
	Socket   string   `json:"socket"`   // the server's unix socket
	StateDir string   `json:"stateDir"` // of the agent alone: fault records and the last lease, which outlive the pod
	HoldDir  string   `json:"holdDir"`  // the holds, which the server's container may read
	// Leases tells that a server may be writable only while its manager gives it leases.
	Leases bool `json:"leases"`
	// Group is absent where the servers form none.
	Group *GroupConfig `json:"group,omitempty"`
	// Pair is absent where not both servers take writes, or there are not two.
	Pair *PairConfig `json:"pair,omitempty"`
	// Inspect: the start wrapper has each server that had data read before it is started in its place; see Inspection.
	Inspect   bool   `json:"inspect,omitempty"`
	RunDir    string `json:"runDir,omitempty"` // the wrapper's notes, which the agent may read; with Group, Inspect or Manager
	SecretDir string `json:"secretDir"`        // SecretsDir
	// Manager is absent where the start wrapper starts the servers themselves.
	Manager *ManagerConfig `json:"manager,omitempty"`
	// Remote is for agents in pods that another operator makes: they share nothing with their server but the network. Of the rest they take
	// Listen, Engine, StateDir, SecretDir and Manager alone.
	Remote *RemoteConfig `json:"remote,omitempty"`
}

// RemoteConfig is how an agent reaches a server that it sees nothing else of.
type RemoteConfig struct {
	Server Endpoint `json:"server"`
	// AccountFrom and PasswordFrom are environment variables with an administrator's name and password.
	AccountFrom  string `json:"accountFrom"`
	PasswordFrom string `json:"passwordFrom"`
}

// ServerConfig configures `replab server`, the start wrapper in the server's container.
type ServerConfig struct {
	Engine    string   `json:"engine"`    // "MySQL"
	Server    []string `json:"server"`    // argv of the server, such as ["mysqld", "--defaults-file=/etc/replab/my.cnf"]
	Socket    string   `json:"socket"`    // the server's unix socket
	DataDir   string   `json:"dataDir"`   // the server's data directory, a folder on the volume
	HoldDir   string   `json:"holdDir"`   // the agent's holds: no server is started while one stands
	SecretDir string   `json:"secretDir"` // SecretsDir
	// Group, Inspect, RunDir and Manager as in AgentConfig.
	Group   *GroupConfig   `json:"group,omitempty"`
	Inspect bool           `json:"inspect,omitempty"`
	RunDir  string         `json:"runDir,omitempty"`
	Manager *ManagerConfig `json:"manager,omitempty"`
	// Pair: another server takes writes too.
	Pair bool `json:"pair,omitempty"`
	// CopyPort is where the wrapper gives copies of the data to other nodes: GET CopyPath, as AccountReplication. 0: nowhere.
	CopyPort int `json:"copyPort,omitempty"`
}

// CopyPath answers with a stream of the server's data. A stream that was cut off is no copy.
const CopyPath = "/copy"

// CopyGivenHeader says how many bytes of copies a donor has given so far, when it answers 503 since it gives somebody else one.
const CopyGivenHeader = "Replab-Copy-Given"

// Environment that the plan gives the containers of a node through the downward API.
const (
	EnvPodName = "POD_NAME"
	EnvPodUID  = "POD_UID"
)

// Lease is the director's permission for a node to be the primary. Take it before the server is opened, and renew it:
// once a node had a lease, its agent fences a server that is writable without one. After a lease is over the next is
// refused with 409 until the server was fenced (or is dead): ask again, then open the server anew.
//
// A server with read_only on and super_read_only off does not count as writable: MySQL wants it so while the director has it
// cloned, and the clone would end in an error if the agent fenced it then.
type Lease struct {
	TTLMilliseconds int64 `json:"ttlMilliseconds"`
}

// NodeState is what an agent knows of its server without asking it.
type NodeState struct {
	PodUID string `json:"podUID"`
	// ServerPID is 0 while no server process exists, and where the agent sees none: see ManagerState.Runs.
	ServerPID int64    `json:"serverPID"`
	Holds     []string `json:"holds,omitempty"` // faults whose hold stands
	// Group is absent where the servers form none.
	Group *GroupState `json:"group,omitempty"`
	// Manager is absent where no manager runs the servers.
	Manager *ManagerState `json:"manager,omitempty"`
	// Pair is absent where not both of two servers take writes.
	Pair *PairState `json:"pair,omitempty"`
}

// Resources are counters since the server or the pod's network began, and gauges of the moment.
type Resources struct {
	At metav1.MicroTime `json:"at"`
	// OutOfSight: the agent sees none of the server's processes, and tells At alone, by which its machine's clock is known.
	OutOfSight           bool  `json:"outOfSight,omitempty"`
	CPUMicroseconds      int64 `json:"cpuMicroseconds"`
	ResidentBytes        int64 `json:"residentBytes"`
	Threads              int64 `json:"threads,omitempty"` // of the moment
	ReadBytes            int64 `json:"readBytes"`         // block I/O
	WrittenBytes         int64 `json:"writtenBytes"`      // block I/O
	NetworkReceivedBytes int64 `json:"networkReceivedBytes"`
	NetworkSentBytes     int64 `json:"networkSentBytes"`
	ServerPID            int64 `json:"serverPID"` // counters of a new process start again at 0
	// Peers are the packets of replication, where they are counted.
	Peers []PeerTraffic `json:"peers,omitempty"`
}

// PeerTraffic are the bytes of IP packets that a node's server sent another node's, since the sender's pod began.
type PeerTraffic struct {
	Node      string `json:"node"` // the other one
	SentBytes int64  `json:"sentBytes"`
}

// FaultAction is what an agent can do to its server. DeletePod is the operator's own; it asks the agent for Hold only.
type FaultAction string

// Actions of FaultRequest.
const (
	FaultKill       FaultAction = "Kill"       // SIGKILL to the server, and to the manager that runs it with all that either has started
	FaultKillServer FaultAction = "KillServer" // SIGKILL to the server's first process alone, without a hold: its manager starts it again
	FaultPause      FaultAction = "Pause"      // SIGSTOP to those of Kill
	FaultPartition  FaultAction = "Partition"  // packets from and to Addresses are dropped
	FaultHold       FaultAction = "Hold"       // nothing now; when the server is next started it waits
)

// FaultRequest asks an agent for a fault. Asking again under the same name never repeats it: the record is answered.
type FaultRequest struct {
	Name   string      `json:"name"`
	PodUID string      `json:"podUID"` // precondition: another UID is refused with 409
	Action FaultAction `json:"action"`
	// HoldMilliseconds is how long it stays so; 0 not at all, -1 until DELETE.
	HoldMilliseconds int64 `json:"holdMilliseconds"`
	// Addresses are the pod IPs that a Partition cuts off. A repeated PUT replaces them.
	Addresses []string `json:"addresses,omitempty"`
	// Store: a Partition cuts off from the API server too, in which managers keep who takes the writes. The agent knows its address from the
	// environment. A repeated PUT does not change it.
	Store bool `json:"store,omitempty"`
}

// FaultRecord is the agent's durable note of a fault: written before it acts, completed after. A PUT is answered as soon
// as the act is done; its effect is awaited for up to some seconds more.
type FaultRecord struct {
	FaultRequest
	IntendedAt metav1.MicroTime  `json:"intendedAt"`
	InjectedAt *metav1.MicroTime `json:"injectedAt,omitempty"`
	// Concluded says that nothing more will be found out about the effect: Confirmed and Evidence are final.
	Concluded bool `json:"concluded"`
	Confirmed bool `json:"confirmed"`
	// Evidence says what was seen, or why the fault could not be confirmed.
	Evidence   string            `json:"evidence,omitempty"`
	HeldUntil  *metav1.MicroTime `json:"heldUntil,omitempty"` // absent while it holds without a limit, and without a hold
	ReleasedAt *metav1.MicroTime `json:"releasedAt,omitempty"`
	// Widened are the addresses that a repeated PUT of a Partition has added.
	Widened []Widening `json:"widened,omitempty"`
}

// Widening is an address that is cut off since a moment at which others had been before.
type Widening struct {
	Address string           `json:"address"`
	At      metav1.MicroTime `json:"at"` // from then on, by the agent's clock
}
