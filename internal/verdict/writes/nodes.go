package writes

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// nodes joins what the audit and the topology know of each node, and counts the ghosts of all.
func nodes(e evidence.Run) ([]v1alpha1.NodeStatus, *int64) {
	if e.Audit == nil {
		return uncounted(e), nil
	}
	var out []v1alpha1.NodeStatus
	for _, a := range e.Audit.Nodes {
		n := e.State.Node(a.Name)
		s := v1alpha1.NodeStatus{
			Name: a.Name, Role: topology.StatusRole(a.Role), Rows: a.Rows, Missing: a.Missing, GhostTransactions: a.GhostTransactions,
			Rejoined: rejoined(e.State.Known, a.Role, n),
			Note:     strings.Join(slices.DeleteFunc([]string{n.Why, a.Failed}, func(why string) bool { return why == "" }), "; "),
		}
		s.RejoinedRows = rejoinedRows(e, a.Name)
		if s.GhostTransactions == nil {
			s.GhostTransactions = transactionsInLog(e, a)
		}
		gone := dataGone(e, a)
		if !gone.None() {
			s.GhostTransactions = nil
			s.Note = strings.TrimPrefix(s.Note+"; its ghost writes are unknown: "+gone.String(), "; ")
		}
		switch {
		case !gone.None():
		case a.Inspected != nil && a.Inspected.Ghosts != nil:
			s.GhostWrites = a.Inspected.Ghosts
		default:
			s.GhostWrites = a.Extra
		}
		out = append(out, s)
	}
	return out, ghostWrites(e, out)
}

// uncounted are the nodes as the topology tells them, when no audit looked at them.
func uncounted(e evidence.Run) []v1alpha1.NodeStatus {
	var out []v1alpha1.NodeStatus
	for _, n := range e.State.Nodes {
		out = append(out, v1alpha1.NodeStatus{Name: n.Name, Role: topology.StatusRole(n.Role), Note: n.Why})
	}
	return out
}

func rejoined(known bool, audited wire.Role, n topology.NodeState) metav1.ConditionStatus {
	switch {
	case audited != wire.RoleIsolated:
		return ""
	case !known:
		return metav1.ConditionUnknown
	case n.Rejoin == wire.RejoinDone:
		return metav1.ConditionTrue
	default:
		return metav1.ConditionFalse
	}
}
