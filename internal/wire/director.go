package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths of the director, port PortDirector.
const (
	DirectorPathHealth = "/healthz"
	DirectorPathState  = "/state"  // GET DirectorState
	DirectorPathClock  = "/clock"  // GET ClockReading
	DirectorPathRejoin = "/rejoin" // POST RejoinRequest: the node's ghosts were counted, rebuild it
	// DirectorPathSwitchover takes a POST of a SwitchoverRequest: 202 once it is stored, 409 where it cannot be done now.
	DirectorPathSwitchover = "/switchover"
)

// DirectorStateKey is the key of the director's ConfigMap that holds DirectorState as JSON.
const DirectorStateKey = "state.json"

// RoleLabel marks each node's pod with its Role; with proxy None the Services select by it.
const RoleLabel = "replab.dev/role"

// Role of a database node, in words that fit every topology.
type Role string

// Roles of a node.
const (
	RoleWriter   Role = "Writer"   // takes writes; a topology may have several
	RoleReader   Role = "Reader"   // follows a writer
	RoleIsolated Role = "Isolated" // took writes once and came back: read-only, not following, until its ghosts are counted
	RoleDown     Role = "Down"
)

// DirectorConfig configures `replab director`.
type DirectorConfig struct {
	Namespace string `json:"namespace"`
	StateMap  string `json:"stateMap"` // its ConfigMap
	Engine    string `json:"engine"`   // "MySQL"
	Nodes     []Node `json:"nodes"`
	Port      int    `json:"port"` // of the nodes' servers
	SecretDir string `json:"secretDir"`
	Listen    string `json:"listen"`
	Failover  bool   `json:"failover"` // false: the same primary is opened again when it returns
	// SemiSync is absent for asynchronous replication.
	SemiSync *SemiSync `json:"semiSync,omitempty"`
	// LabelPods tells whether the director keeps RoleLabel on the pods.
	LabelPods bool `json:"labelPods"`

	ProbeMilliseconds     int64 `json:"probeMilliseconds"`   // between two looks at the nodes
	TimeoutMilliseconds   int64 `json:"timeoutMilliseconds"` // of one look
	FailureThreshold      int   `json:"failureThreshold"`    // looks in a row that must fail
	LeaseMilliseconds     int64 `json:"leaseMilliseconds"`   // ttl of a primary's lease
	CatchUpMilliseconds   int64 `json:"catchUpMilliseconds"` // for a candidate to apply what it received
	RejoinMaxMilliseconds int64 `json:"rejoinMaxMilliseconds"`
}

// SemiSync are the settings of semi-synchronous replication.
type SemiSync struct {
	AckReplicas         int   `json:"ackReplicas"`
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds"`
}

// DirectorState is the director's durable memory: written before each act that cannot be repeated, and after it.
type DirectorState struct {
	Epoch   int64  `json:"epoch"`   // grows with each promotion
	Primary string `json:"primary"` // the node that is, or is being made, primary
	// Opened tells that Primary was made writable in this Epoch.
	Opened bool `json:"opened"`
	// Configured tells that every node was once seen in its place: the topology is deployed.
	Configured bool               `json:"configured"`
	Nodes      []NodeView         `json:"nodes"`
	Failovers  []DirectedFailover `json:"failovers,omitempty"`
	// Switchovers that were asked for; the last may be under way.
	Switchovers []Switchover `json:"switchovers,omitempty"`
	// Absences are the times at which nodes were not in their places, since all were once; of old ones that have ended some are gone.
	Absences []DirectedAbsence `json:"absences,omitempty"`
	Message  string            `json:"message,omitempty"` // what it waits for, for people
}

// NodeView is one node as its topology is seen to have it.
type NodeView struct {
	Name string `json:"name,omitempty"`
	Role Role   `json:"role,omitempty"`
	// CaughtUp tells that the node has applied all that the writers have executed.
	CaughtUp bool `json:"caughtUp,omitempty"`
	// Stopped tells that the server stopped to replicate by itself, and will not catch up.
	Stopped bool   `json:"stopped,omitempty"`
	Why     string `json:"why,omitempty"`
	// GhostTransactions are those that an isolated old primary has executed and the new primary has not, counted: GTID_SUBTRACT(old, new).
	// Absent until the old primary came back and was asked.
	GhostTransactions *int64 `json:"ghostTransactions,omitempty"`
	Rejoin            string `json:"rejoin,omitempty"` // "" or one of RejoinRequested and its neighbours
}

// Values of NodeView.Rejoin.
const (
	RejoinRequested = "Requested"
	RejoinCloning   = "Cloning"
	RejoinDone      = "Rejoined"
	RejoinFailed    = "Failed"
)

// DirectedFailover is the log of one failover. A moment is absent until it came.
type DirectedFailover struct {
	Epoch          int64             `json:"epoch"`
	OldPrimary     string            `json:"oldPrimary"`
	NewPrimary     string            `json:"newPrimary,omitempty"`
	FirstFailureAt metav1.MicroTime  `json:"firstFailureAt"` // first look that failed
	DetectedAt     metav1.MicroTime  `json:"detectedAt"`
	ChosenAt       *metav1.MicroTime `json:"chosenAt,omitempty"`
	FencedAt       *metav1.MicroTime `json:"fencedAt,omitempty"`  // the old primary is dead, read-only or without a lease
	AppliedAt      *metav1.MicroTime `json:"appliedAt,omitempty"` // catching up ended; Unapplied tells how
	// PromotedAt is when the new primary had become writable. It stays absent, with a reason in Message, when the director
	// was restarted in that moment; DirectorState.Opened tells in any case.
	PromotedAt  *metav1.MicroTime `json:"promotedAt,omitempty"`
	RepointedAt *metav1.MicroTime `json:"repointedAt,omitempty"` // every live replica follows the new primary
	// Unapplied counts the transactions that the candidate had received and not applied when catching up ended. Opening it drops them.
	Unapplied int64 `json:"unapplied,omitempty"`
	// Planned: it was asked for, FirstFailureAt and DetectedAt are when. The old primary was closed, and the new one had all of it.
	Planned bool   `json:"planned,omitempty"`
	Message string `json:"message,omitempty"`
}

// DirectedAbsence is an absence of a node. Its Resync has no method: the topology knows how nodes are rebuilt.
type DirectedAbsence struct {
	Node string `json:"node"`
	Absence
}

// MaxAbsences bounds DirectorState.Absences.
const MaxAbsences = 64

// RejoinRequest names a node whose ghosts were counted.
type RejoinRequest struct {
	Node string `json:"node"`
}
