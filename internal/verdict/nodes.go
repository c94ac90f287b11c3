package verdict

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/lag"
	"replab.dev/internal/verdict/writes"
	"replab.dev/internal/wire"
)

// nodes joins what the audit, the topology, the probe and the agents know of each node, and counts the ghosts of all.
func nodes(e evidence.Run) ([]v1alpha1.NodeStatus, *int64) {
	if e.Audit == nil {
		return uncounted(e), nil
	}
	var out []v1alpha1.NodeStatus
	for _, a := range e.Audit.Nodes {
		n := e.State.Node(a.Name)
		s := v1alpha1.NodeStatus{
			Name: a.Name, Role: topology.StatusRole(a.Role), Rows: a.Rows, Missing: a.Missing, GhostTransactions: a.GhostTransactions,
			Rejoined: rejoined(e.State.Known, a.Role, n), Lag: lag.OfNode(e.Recorder, a.Name), Group: group.OfNode(e.Recorder, a.Name).Status(), Resources: resources(e.Recorder, a.Name),
			Note: strings.Join(slices.DeleteFunc([]string{n.Why, a.Failed}, func(why string) bool { return why == "" }), "; "),
		}
		_, s.RejoinedRows = writes.Recounted(e, a.Name)
		if s.GhostTransactions == nil {
			s.GhostTransactions = writes.TransactionsInLog(e, a)
		}
		gone := writes.DataGone(e, a)
		if gone != "" {
			s.GhostTransactions = nil
			s.Note = strings.TrimPrefix(s.Note+"; "+gone+": its ghosts are unknown", "; ")
		}
		switch {
		case gone != "":
		case a.Inspected != nil && a.Inspected.Ghosts != nil:
			s.GhostWrites = a.Inspected.Ghosts
		default:
			s.GhostWrites = a.Extra
		}
		out = append(out, s)
	}
	return out, writes.GhostWrites(e, out)
}

// uncounted are the nodes as the topology tells them, when no audit looked at them.
func uncounted(e evidence.Run) []v1alpha1.NodeStatus {
	var out []v1alpha1.NodeStatus
	for _, n := range e.State.Nodes {
		out = append(out, v1alpha1.NodeStatus{
			Name: n.Name, Role: topology.StatusRole(n.Role), Note: n.Why, Lag: lag.OfNode(e.Recorder, n.Name), Group: group.OfNode(e.Recorder, n.Name).Status(),
			Resources: resources(e.Recorder, n.Name),
		})
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

// resources of a node over all stages that are not discarded.
func resources(w *wire.RecorderResults, node string) *v1alpha1.ResourceFigures {
	if w == nil || w.Incomplete != "" {
		return nil
	}
	discarded := map[string]bool{}
	for _, s := range w.Stages {
		discarded[s.Name] = s.Discarded
	}
	var (
		sum       v1alpha1.ResourceFigures
		cpu, time float64
	)
	for _, r := range w.Resources {
		if r.Node != node || discarded[r.Stage] {
			continue
		}
		cpu += float64(r.CPUMillicores) * float64(r.DurationMicroseconds)
		time += float64(r.DurationMicroseconds)
		sum.MemoryPeakBytes = max(sum.MemoryPeakBytes, r.ResidentPeakBytes)
		sum.BlockReadBytes += r.ReadBytes
		sum.BlockWrittenBytes += r.WrittenBytes
		sum.NetworkReceivedBytes += r.NetworkReceivedBytes
		sum.NetworkSentBytes += r.NetworkSentBytes
	}
	if time == 0 {
		return nil
	}
	sum.CPUMillicores = int64(cpu / time)
	return &sum
}
