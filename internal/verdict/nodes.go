package verdict

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/protocol"
	"replab.dev/internal/topology"
)

// nodes joins what state, audit, probe and agents know of each node. The ghosts of all nodes are summed when every old
// primary was counted.
func nodes(e Evidence) ([]v1alpha1.NodeStatus, *int64) {
	var (
		out     []v1alpha1.NodeStatus
		ghosts  int64
		counted = e.Audit != nil && e.Audit.Failed == ""
	)
	for _, n := range e.State.Nodes {
		s := v1alpha1.NodeStatus{Name: n.Name, Role: string(n.Role), Lag: nodeLag(e.Witness, n.Name), Resources: resources(e.Witness, n.Name)}
		var notes []string
		if n.Why != "" {
			notes = append(notes, n.Why)
		}
		switch a := nodeOf(e.Audit, n.Name); {
		case a == nil:
			counted = false
		case a.Failed != "":
			s.Role = string(a.Role)
			notes, counted = append(notes, a.Failed), false
		default:
			s.Role, s.Rows, s.Missing, s.GhostTransactions = string(a.Role), a.Rows, a.Missing, a.GhostTransactions
			if a.Role != protocol.RolePrimary && a.Extra != nil {
				s.GhostWrites = a.Extra
				ghosts += *a.Extra
			}
			s.Rejoined = rejoined(a.Role, n)
		}
		s.Note = strings.Join(notes, "; ")
		out = append(out, s)
	}
	if !counted {
		return out, nil
	}
	return out, &ghosts
}

func rejoined(audited protocol.Role, n topology.NodeState) metav1.ConditionStatus {
	switch {
	case audited != protocol.RoleIsolated:
		return ""
	case n.Rejoin == protocol.RejoinDone:
		return metav1.ConditionTrue
	default:
		return metav1.ConditionFalse
	}
}

func nodeLag(w *protocol.WitnessResults, node string) *v1alpha1.LagStatus {
	if w == nil || w.Incomplete != "" || w.Lag == nil {
		return nil
	}
	for _, l := range w.Lag.Nodes {
		if l.Name == node && l.Samples+l.Unseen > 0 {
			return lagStatus(l.LagDistribution)
		}
	}
	return nil
}

// resources of a node over all stages that are not discarded.
func resources(w *protocol.WitnessResults, node string) *v1alpha1.ResourceFigures {
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
