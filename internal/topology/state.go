package topology

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Failover by the clock of the topology's own manager.
type Failover struct {
	// Clock is the name of that clock: a node's, or that of a process of the topology's own.
	Clock      string            `json:"clock,omitempty"`
	OldWriter  string            `json:"oldWriter,omitempty"`
	NewWriter  string            `json:"newWriter,omitempty"`
	DetectedAt metav1.MicroTime  `json:"detectedAt,omitempty"`
	PromotedAt *metav1.MicroTime `json:"promotedAt,omitempty"`
	// Seen tells that PromotedAt is when the new writer was looked at and found open for writes, as it may have been for some time.
	Seen bool `json:"seen,omitempty"`
	// ClosedAt is when the new writer was last seen closed before PromotedAt; nil where it was not seen.
	ClosedAt *metav1.MicroTime `json:"closedAt,omitempty"`
	// Unapplied counts the transactions that the new writer had received and not applied when it was chosen to be opened.
	Unapplied int64 `json:"unapplied,omitempty"`
	// Undetected tells that the time of the decision is unknown: DetectedAt is then PromotedAt.
	Undetected bool `json:"undetected,omitempty"`
	// Waits tells that the group still counted the old writer when the new one took over, at PromotedAt: how much longer commits waited for it
	// is not known.
	Waits bool `json:"waits,omitempty"`
	// Planned: it was asked for, at DetectedAt or, where the nodes decide among themselves, before. The old writer took no writes any more when the new one had all of its own, unless OldServes.
	Planned bool `json:"planned,omitempty"`
	// OldServes: the old writer goes on taking what clients still send it.
	OldServes bool `json:"oldServes,omitempty"`
}

// RestartInPlace is a writer's return to its own place after its server was lost. No other node took over meanwhile.
type RestartInPlace struct {
	Node  string `json:"node,omitempty"`
	Clock string `json:"clock,omitempty"` // see Failover
	// LostAt is the last moment at which the server before took writes, zero if it was not seen, and At when the next one was seen to.
	LostAt metav1.MicroTime `json:"lostAt,omitempty"`
	At     metav1.MicroTime `json:"at,omitempty"`
}

// Switchover is a planned change of the writer, by the clock of the topology's own manager.
type Switchover struct {
	Name        string            `json:"name,omitempty"`  // that it was asked for under
	Clock       string            `json:"clock,omitempty"` // see Failover
	RequestedAt metav1.MicroTime  `json:"requestedAt,omitempty"`
	OldWriter   string            `json:"oldWriter,omitempty"`
	NewWriter   string            `json:"newWriter,omitempty"`
	Outcome     SwitchoverOutcome `json:"outcome,omitempty"`
	Why         string            `json:"why,omitempty"` // it failed, or what it waits for
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
	Node  string `json:"node,omitempty"`
	Clock string `json:"clock,omitempty"` // see Failover
	wire.Absence
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

// Leave is what a fault that still holds excuses a node from.
type Leave int

// Leaves, each wider than the one before.
const (
	MustRest  Leave = iota // no fault holds
	MayLag                 // cut off from its peers: it answers, but cannot catch up
	MayBeDown              // stopped, or cut off from everyone
)

// Settled tells whether the nodes have come to rest: there is a writer, and each node follows or is isolated, unless a
// fault that still holds excuses it. Otherwise it names a node that has not.
func (s State) Settled(leave map[string]Leave) (bool, string) {
	switch {
	case !s.Known, len(s.Writers) == 0:
		return false, s.Why
	}
	if s.FailingOver() {
		return false, "a failover from " + s.Failovers[len(s.Failovers)-1].OldWriter + " is under way"
	}
	for _, n := range s.Nodes {
		own := leave[n.Name]
		if s.Independent && len(leave) > 0 { // a node that is cut off from one that follows it leaves that behind too
			own = max(own, MayLag)
		}
		if why := restless(n, own, len(s.Writers) > 1); why != "" {
			return false, n.Name + " is " + string(StatusRole(n.Role)) + ": " + why
		}
	}
	return true, ""
}

// FailingOver tells that another writer is being brought into its place.
func (s State) FailingOver() bool {
	n := len(s.Failovers)
	return n > 0 && s.Failovers[n-1].PromotedAt == nil
}

// restless says why a node has not come to rest, "" when it has. A writer has all that there is, unless there are several.
func restless(n NodeState, leave Leave, several bool) string {
	follows := n.Role == Reader || n.Role == Writer && several
	switch {
	case leave == MayBeDown, n.Role == Isolated, n.Role == Writer && !several,
		follows && (n.CaughtUp || n.Stopped || leave == MayLag):
		return ""
	case n.Why != "":
		return n.Why
	case follows:
		return "it has not applied all that the others have executed"
	default:
		return "it does not answer"
	}
}

// Role of a node, in words that fit every topology. Processes say them to each other, so wire has them.
type Role = wire.Role

// Roles of a node.
const (
	Writer   = wire.RoleWriter
	Reader   = wire.RoleReader
	Isolated = wire.RoleIsolated
	Down     = wire.RoleDown
)

// StatusRole is the word for a role that people read in the status.
func StatusRole(r Role) v1alpha1.NodeRole {
	switch r {
	case Writer:
		return v1alpha1.NodePrimary
	case Reader:
		return v1alpha1.NodeReplica
	case Isolated:
		return v1alpha1.NodeIsolated
	default:
		return v1alpha1.NodeDown
	}
}

// Targets are the nodes that a fault hits. Primary is the first writer; replicas are the other nodes that are up, writers or not. A
// node that is down can be hit as the primary, or by its number.
func (s State) Targets(f v1alpha1.Fault) []NodeState {
	primary := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return len(s.Writers) > 0 && n.Name == s.Writers[0] })
	var found []NodeState
	for i, n := range s.Nodes {
		var hit bool
		switch f.Target {
		case v1alpha1.TargetPrimary:
			hit = i == primary
		case v1alpha1.TargetReplica:
			hit = i != primary && up(n) && len(found) == 0
		case v1alpha1.TargetAllReplicas:
			hit = i != primary && up(n)
		case v1alpha1.TargetNode:
			hit = f.Node != nil && int(*f.Node) == i
		}
		if hit {
			found = append(found, n)
		}
	}
	return found
}

// up tells whether the node serves in the topology.
func up(n NodeState) bool { return n.Role == Writer || n.Role == Reader }
