package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AgentPathSwitchover takes a POST of a SwitchoverRequest: 202 once it is kept, 409 where this node does not take the writes, or it is known that no
// other can. Another node then takes the writes, as long as there is one that can: of members of a group also through restarts; of nodes whose
// servers managers run that is up to the managers, and told later. 404 where nodes are neither.
const AgentPathSwitchover = "/switchover"

// SwitchoverRequest asks for another writer than From. Asking again under the same name changes nothing.
type SwitchoverRequest struct {
	Name string `json:"name"`
	From string `json:"from"`
}

// Outcomes of a planned change, of Switchover and DirectedSwitchover. "" while it is under way.
const (
	SwitchoverDone   = "Done"
	SwitchoverFailed = "Failed"
)

// Switchover is a planned change of the writer, from the node that tells of it to another one: nodes among themselves decide on it, as members
// of a group or by their managers.
type Switchover struct {
	Name        string           `json:"name"`
	RequestedAt metav1.MicroTime `json:"requestedAt"`
	// AgeMilliseconds since RequestedAt when this was told.
	AgeMilliseconds int64             `json:"ageMilliseconds"`
	To              string            `json:"to,omitempty"` // who took over
	Outcome         string            `json:"outcome,omitempty"`
	EndedAt         *metav1.MicroTime `json:"endedAt,omitempty"` // To was heard to take the writes, or the node gave up to have it so
	Why             string            `json:"why,omitempty"`     // it failed
}
