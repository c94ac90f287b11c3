package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// NodeHistory is what a node's agent knows of the node's part in its topology, where nodes decide among themselves or by their managers.
type NodeHistory struct {
	// Writes tells that the node takes the writes now; Why is the reason if it does not.
	Writes bool   `json:"writes"`
	Why    string `json:"why,omitempty"`
	// Leader is the node that has the writes, as far as this node knows; "" for none. Several agents may differ for a moment.
	Leader string `json:"leader,omitempty"`
	// Terms are when this node was the writer, in their order. They are absent where every node takes writes.
	Terms []WriterTerm `json:"terms,omitempty"`
	// Absences are when this node was not in its place, since it first was.
	Absences []Absence `json:"absences,omitempty"`
	// Switchovers that this node was asked for, in their order; the last may be under way.
	Switchovers []Switchover `json:"switchovers,omitempty"`
}

// WriterTerm is a time during which a node was the writer, by its own clock.
type WriterTerm struct {
	From metav1.MicroTime  `json:"from"`
	To   *metav1.MicroTime `json:"to,omitempty"` // absent while it lasts, and when its end was not seen
	// After is the writer before: the node itself where its own server took its place again, "" where that is not known for sure.
	After string `json:"after,omitempty"`
	// NoticedAt is when this node first saw that After was lost, or when its manager decided to promote its server.
	NoticedAt *metav1.MicroTime `json:"noticedAt,omitempty"`
	// ClosedAt is when this node's server was last seen closed for writes before From, where From is when it was first seen open; absent where
	// it was not seen. Of managers alone.
	ClosedAt *metav1.MicroTime `json:"closedAt,omitempty"`
	// AfterCounts tells that After still was one of the group's members when this one took over: a commit may have had to wait until the
	// others had given it up. Of members of a group alone.
	AfterCounts bool `json:"afterCounts,omitempty"`
	// Switchover is the name under which After was asked to give the writes up, at NoticedAt; "" without one. Of members of a group alone.
	Switchover string `json:"switchover,omitempty"`
}

// Absence is a time during which a node was not in its place, by the clock of the process that watches it.
type Absence struct {
	LeftAt metav1.MicroTime `json:"leftAt,omitempty"`
	// RequestedAt is when the node was asked to come back, where it was kept apart until then.
	RequestedAt *metav1.MicroTime `json:"requestedAt,omitempty"`
	// BackAt is when it was in its place again, a reader with all that had been applied elsewhere; absent while the absence lasts.
	BackAt *metav1.MicroTime `json:"backAt,omitempty"`
	// Resync is how the node caught up, in the API's own words; nothing is decided by it. Absent where that is not known.
	Resync *v1alpha1.ResyncStatus `json:"resync,omitempty"`
}

// AgentPathSwitchover takes a POST of a SwitchoverRequest: 202 once it is kept, 409 where this node does not take the writes, or it is known
// that no other can. Members of a group see to it through restarts too; managers decide later, and tell then. 404 where nodes are neither.
const AgentPathSwitchover = "/switchover"

// SwitchoverRequest asks for another writer than From. Asking again under the same name changes nothing.
type SwitchoverRequest struct {
	Name string `json:"name"`
	From string `json:"from"`
}

// Outcomes of a planned change. "" while it is under way.
const (
	SwitchoverDone   = "Done"
	SwitchoverFailed = "Failed"
)

// Switchover is a planned change of the writer. A moment is absent until it came.
type Switchover struct {
	Name        string           `json:"name"` // of the request
	From        string           `json:"from"`
	To          string           `json:"to,omitempty"` // the node that took over, or is to
	RequestedAt metav1.MicroTime `json:"requestedAt"`
	// AgeMilliseconds since RequestedAt, where nodes tell each other of it.
	AgeMilliseconds int64             `json:"ageMilliseconds,omitempty"`
	Outcome         string            `json:"outcome,omitempty"`
	EndedAt         *metav1.MicroTime `json:"endedAt,omitempty"`
	Why             string            `json:"why,omitempty"` // it failed
	// ClosedAt is when From was seen closed: a later look finds all that it has executed. Of the director alone, like Epoch.
	ClosedAt *metav1.MicroTime `json:"closedAt,omitempty"`
	// Epoch in which To is primary; 0 while From still is.
	Epoch int64 `json:"epoch,omitempty"`
}
