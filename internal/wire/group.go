package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// GroupConfig is for nodes whose servers agree among themselves on their members and on commits.
type GroupConfig struct {
	Name string `json:"name"` // by which the members know each other
	// Members are all nodes of the topology in their order, this one among them.
	Members []Node `json:"members"`
	// WriteAll: every member that is in step takes writes. Else the first of those alone does.
	WriteAll bool `json:"writeAll"`
}

// GroupState is what the agent of a member knows of it.
type GroupState struct {
	NodeHistory
	// Start is what the start wrapper last noted; it counts while no server runs. Absent before it knows the node's data.
	Start *GroupStart `json:"start,omitempty"`
	// View is the server's own; absent while no server answers.
	View *GroupView `json:"view,omitempty"`
	// Resigned is 0 for a member that never has. Those that have take the writes after those that have not, and in the order of these numbers.
	Resigned int64 `json:"resigned,omitempty"`
	// CaughtUp tells that this member has committed all that those members in its component had whose agents have just answered, and that
	// one of them which serves has, or that there is no other.
	CaughtUp bool `json:"caughtUp"`
}

// GroupStart is what a start wrapper waits with.
type GroupStart struct {
	Phase GroupPhase `json:"phase"`
	// Position of the data that the server is to be started from.
	Position GroupPosition `json:"position"`
	Why      string        `json:"why,omitempty"` // what it waits for, for people
}

// GroupPhase is how far a start wrapper is.
type GroupPhase string

// Phases of a start.
const (
	// GroupGathering asks the others. Its position does not change, and its server takes part in nothing.
	GroupGathering GroupPhase = "Gathering"
	// GroupStarting has decided: a server with this data may run, and may be in a primary component.
	GroupStarting GroupPhase = "Starting"
)

// GroupPosition is how far a member's data have come. The zero value is of data that never belonged to a group.
type GroupPosition struct {
	History  string `json:"history,omitempty"`  // names the line of transactions that Sequence counts
	Sequence int64  `json:"sequence,omitempty"` // of the last one
}

// GroupView is what a member's server says of its group.
type GroupView struct {
	// Primary tells that the members that are connected may commit. Of two parts of a group never both may.
	Primary bool `json:"primary"`
	// Component names this connection of members among all that there ever were.
	Component string `json:"component"`
	// Members are the names of the nodes in a primary component, this one included. Of others they are not to be relied on: servers
	// that have met while none of them was primary do not know each other's names.
	Members []string `json:"members"`
	// Server names this member's server among all that there ever were, and Servers those that it is connected with, it included.
	Server  string   `json:"server"`
	Servers []string `json:"servers"`
	// Synced tells that this member has what the others have, but for what is under way.
	Synced bool `json:"synced"`
	// Serves tells that it takes statements: so it does, too, while it hands its data to another one.
	Serves   bool          `json:"serves"`
	Position GroupPosition `json:"position"`
	// StableMilliseconds is for how long Primary, Component and Servers have been seen unchanged.
	StableMilliseconds int64 `json:"stableMilliseconds"`
}

// StateTransfer brought a node the data of the others when its server joined them.
type StateTransfer struct {
	Kind    v1alpha1.ResyncMethod `json:"kind"` // SST: all data; IST: the transactions that the node had missed
	BeganAt metav1.MicroTime      `json:"beganAt"`
	EndedAt *metav1.MicroTime     `json:"endedAt,omitempty"` // absent while it lasts, and when the server died in it
	// Milliseconds that it took, and the bytes that the pod's network received meanwhile, whatever they were. Absent without an end.
	Milliseconds         *int64 `json:"milliseconds,omitempty"`
	NetworkReceivedBytes *int64 `json:"networkReceivedBytes,omitempty"`
}
