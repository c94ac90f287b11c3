package verdict

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// dataGone says why a node's tables cannot show the ghosts that it may have had, "" when they can. Only a node that took writes
// may have had some; of one that is inspected when it is started again, whatever it held is known.
func dataGone(e Evidence, a wire.AuditedNode) string {
	if by := deletedBy(e, a); by != "" {
		return "its data were deleted with its pod by fault " + by
	}
	switch {
	case a.Inspected != nil && a.Inspected.Unknown != "" && !beforeTheLoad(e, a.Name, a.Inspected.UnknownAt):
		return a.Inspected.Unknown
	case a.Inspected != nil:
		return madeInTheLoad(e, a)
	case a.Failed != "" || a.Extra == nil || !tookWrites(e.Witness, a):
		return ""
	case a.HoldsOwn == nil:
		return "which transactions are its own is not known"
	case !*a.HoldsOwn:
		return fmt.Sprintf("node %s acknowledged writes and holds none of its own, so its data are not those that it had", a.Name)
	}
	return ""
}

// deletedBy names the fault that deleted a node's pod together with its data, "" for none.
func deletedBy(e Evidence, a wire.AuditedNode) string {
	if e.Spec.Topology.Storage.Medium == v1alpha1.MediumVolumeClaim {
		return ""
	}
	for _, f := range e.Faults {
		mayHaveHad := a.Inspected != nil || f.Role == v1alpha1.NodePrimary && f.InjectedTime != nil
		if f.Pod == a.Name && mayHaveHad && actionOf(e.Spec, f) == v1alpha1.ActionDeletePod {
			return f.Name
		}
	}
	return ""
}

// madeInTheLoad says that a node's data were made when the load had begun, "" when they were not: somebody has deleted those that it had,
// and with them every note of what it held. Where clocks do not tell which came first, they may have been.
func madeInTheLoad(e Evidence, a wire.AuditedNode) string {
	made := a.Inspected.FreshAt
	if made == nil || e.Witness == nil || e.Witness.LoadStartedAt == nil || beforeTheLoad(e, a.Name, made) {
		return ""
	}
	if clockOf(e.Witness, a.Name) == nil {
		return fmt.Sprintf("its data were made at %s by its own clock, which was not measured: perhaps when the load had begun, and those that it had before are gone then",
			made.UTC().Format("15:04:05"))
	}
	return fmt.Sprintf("its data were made at %s, when the load had begun, and those that it had before are gone", made.UTC().Format("15:04:05"))
}

// beforeTheLoad tells that something on a node was certainly before the load began: what the node held then are no writes. By a clock that
// was not measured nothing is certain.
func beforeTheLoad(e Evidence, node string, at *metav1.MicroTime) bool {
	if at == nil || e.Witness == nil || e.Witness.LoadStartedAt == nil {
		return false
	}
	clock := clockOf(e.Witness, node)
	return clock != nil && told(at.Time, *clock).latest.Before(e.Witness.LoadStartedAt.Time)
}

// afterTheLoad tells that something on a node was certainly once the last request of the load had its answer.
func afterTheLoad(e Evidence, node string, at metav1.MicroTime) bool {
	if e.Witness == nil || e.Witness.LoadEndedAt == nil {
		return false
	}
	clock := clockOf(e.Witness, node)
	return clock != nil && told(at.Time, *clock).earliest.After(e.Witness.LoadEndedAt.Time)
}

// tookWrites tells whether a node that is no writer any more acknowledged writes. After a restart of the witness, and where no answer
// named its node, nobody knows: an isolated node did.
func tookWrites(w *wire.WitnessResults, a wire.AuditedNode) bool {
	if w == nil || w.Incomplete != "" || (len(w.Writers) == 0 && w.Writes.Acknowledged > 0) {
		return a.Role == wire.RoleIsolated
	}
	return a.Role != wire.RoleWriter && slices.Contains(w.Writers, a.Name)
}

// ghostsUnknown says among the reasons too why there is no sum.
func ghostsUnknown(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil {
		return nil
	}
	var found []string
	for _, a := range e.Audit.Nodes {
		if why := dataGone(e, a); why != "" {
			found = append(found, fmt.Sprintf("Ghosts of node %s are unknown: %s.", a.Name, why))
		}
	}
	return found
}
