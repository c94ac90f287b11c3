package topology

// Leave is what a fault that still holds excuses a node from.
type Leave int

// Leaves, each wider than the one before.
const (
	MustRest  Leave = iota // no fault holds
	MayLag                 // cut off from its peers: it answers, but cannot catch up
	MayBeDown              // stopped, or cut off from everyone
)

// Settled tells whether the nodes have come to rest: there is a writer, and each node follows or is isolated, unless a
// fault that still holds excuses it. Otherwise it says who has not.
func (s State) Settled(leave map[string]Leave) (bool, string) {
	switch {
	case !s.Known, len(s.Writers) == 0:
		return false, s.Why
	}
	if s.FailingOver() {
		return false, "a failover from " + s.Failovers[len(s.Failovers)-1].OldWriter + " is under way"
	}
	for _, n := range s.Nodes {
		if why := restless(n, leave[n.Name], len(s.Writers) > 1); why != "" {
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
		follows && (n.CaughtUp || leave == MayLag):
		return ""
	case n.Why != "":
		return n.Why
	case follows:
		return "it has not applied all that the others have executed"
	default:
		return "it does not answer"
	}
}
