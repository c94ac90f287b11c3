package verdict

import (
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// dataGone says why a node's tables cannot show the ghosts that it may have had, "" when they can. Only a node that took writes
// may have had some; of one that is inspected when it is started again, whatever it held is known.
func dataGone(e Evidence, a wire.AuditedNode) string {
	for _, f := range e.Faults {
		if f.Pod == a.Name && (f.Role == v1alpha1.NodePrimary || a.Inspected != nil) && (f.InjectedTime != nil || a.Inspected != nil) &&
			actionOf(e.Spec, f) == v1alpha1.ActionDeletePod && e.Spec.Topology.Storage.Medium != v1alpha1.MediumVolumeClaim {
			return fmt.Sprintf("its data were deleted with its pod by fault %s", f.Name)
		}
	}
	switch {
	case a.Inspected != nil:
		return a.Inspected.Unknown
	case a.Failed != "" || a.Extra == nil || !tookWrites(e.Witness, a):
		return ""
	case a.HoldsOwn == nil:
		return "which transactions are its own is not known"
	case !*a.HoldsOwn:
		return fmt.Sprintf("node %s acknowledged writes and holds none of its own, so its data are not those that it had", a.Name)
	}
	return ""
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
