package faults

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// own are replab's containers in the pods of nodes. The others are servers.
var own = []string{"agent", "copy"}

// podsReplaced finds nodes whose pod took the place of another that no fault had deleted. One that was deleted during the load may come back after
// it. A pod that is replaced after the audit counts too.
func podsReplaced(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	last := ""
	for _, c := range e.Provenance.Containers { // in the order of their pods
		if c.Component != kube.ComponentNode || c.Pod == last || !evidence.InNewPod(e, c) || deletedByFault(e, c) {
			continue
		}
		last = c.Pod
		found = append(found, finding.Of(finding.PodReplacedUnasked, c.Pod, c.PodCreatedAt.UTC().Format(time.RFC3339)))
	}
	return found
}

// replacement is how long the successor of a deleted pod may take to be created. Its server shuts down first, for which pods of other operators have
// up to five minutes.
const replacement = 6 * time.Minute

// deletedByFault tells whether a fault deleted, or may have deleted, the pod that this one replaced. Topologies delete no pods.
func deletedByFault(e evidence.Run, c provenance.Container) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		grace := time.Duration(ptr.Deref(evidence.PlannedOf(e.Spec, f).GracePeriodSeconds, 0)) * time.Second
		soon := f.InjectedTime == nil || !c.PodCreatedAt.After(f.InjectedTime.Add(replacement+grace))
		return f.Pod == c.Pod && soon && evidence.ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod
	})
}

// serversEnded finds servers that ended in the midst of the load. A fault on the same node explains that. A fault elsewhere may: topologies restart
// servers to bring them back. podsReplaced reports the first start in a new pod.
func serversEnded(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, c := range e.Provenance.Containers {
		how, at := evidence.Interrupted(e, c)
		if c.Component != kube.ComponentNode || slices.Contains(own, c.Name) || how == "" || evidence.InNewPod(e, c) && c.EndedAt == nil {
			continue
		}
		causes := slices.DeleteFunc(slices.Clone(e.Faults), func(f v1alpha1.FaultStatus) bool { return !mayHaveEnded(e, f, c, at) })
		switch here := slices.ContainsFunc(causes, func(f v1alpha1.FaultStatus) bool { return f.Pod == c.Pod }); {
		case here:
		case len(causes) > 0:
			found = append(found, finding.Of(finding.ServerPerhapsEnded, c.Name, c.Pod, how, causes[len(causes)-1].Name))
		default:
			found = append(found, finding.Of(finding.ServerEnded, c.Name, c.Pod, how))
		}
	}
	return found
}

// managersEnded warns of failover managers that ended. No fault hits them.
func managersEnded(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, c := range e.Provenance.Containers {
		if how, _ := evidence.Interrupted(e, c); how != "" && c.Component == kube.ComponentManager {
			found = append(found, finding.Of(finding.ManagerEnded, c.Name, c.Pod, how))
		}
	}
	return found
}

// mayHaveEnded tells whether a server may have ended at a moment by a fault. It may end long after one that its node has been away since.
func mayHaveEnded(e evidence.Run, f v1alpha1.FaultStatus, c provenance.Container, at evidence.Moment) bool {
	if evidence.MayCause(e, f, at) {
		return true
	}
	return slices.ContainsFunc(e.State.Absences, func(a topology.Absence) bool {
		clock := evidence.ClockOf(e.Recorder, a.Clock)
		if a.Node != c.Pod || clock == nil {
			return false
		}
		left := evidence.Told(a.LeftAt.Time, *clock)
		away := left.Latest.Before(at.Earliest) && (a.BackAt == nil || !evidence.Told(a.BackAt.Time, *clock).Latest.Before(at.Earliest))
		return away && evidence.MayCause(e, f, left)
	})
}
