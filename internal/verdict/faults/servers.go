package faults

import (
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// own are replab's containers in the pods of nodes. The others are servers.
var own = []string{"agent", "copy"}

// serversEnded finds servers that ended in the midst of the load. A fault on the same node explains that. A fault elsewhere may: topologies restart
// servers to bring them back, and delete no pods.
func serversEnded(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	foreign := map[string]bool{}
	for _, c := range e.Provenance.Containers {
		how, at := evidence.Interrupted(e, c)
		if c.Component != kube.ComponentNode || slices.Contains(own, c.Name) || how == "" {
			continue
		}
		causes := slices.DeleteFunc(slices.Clone(e.Faults), func(f v1alpha1.FaultStatus) bool { return !mayHaveEnded(e, f, c, at) })
		switch here := slices.ContainsFunc(causes, func(f v1alpha1.FaultStatus) bool { return f.Pod == c.Pod }); {
		case here, foreign[c.Pod]:
		case replaced(c):
			foreign[c.Pod] = true // it is said once, whatever the number of its containers
			found = append(found, finding.Of(finding.PodReplacedUnasked, c.Pod, c.StartedAt.UTC().Format(time.RFC3339)))
		case len(causes) > 0:
			found = append(found, finding.Of(finding.ServerPerhapsEnded, c.Name, c.Pod, how, causes[len(causes)-1].Name))
		default:
			found = append(found, finding.Of(finding.ServerEnded, c.Name, c.Pod, how))
		}
	}
	return found
}

// replaced tells whether a container's pod took the place of another pod. A container that began again in its own pod has an end.
func replaced(c provenance.Container) bool { return c.EndedAt == nil }

// mayHaveReplaced tells whether a pod may be the one that came after a fault deleted its predecessor, at any time after that. A fault of an
// unknown time may have done so.
func mayHaveReplaced(e evidence.Run, f v1alpha1.FaultStatus, c provenance.Container, at evidence.Moment) bool {
	injected, known := evidence.Injected(f)
	deletes := f.Pod == c.Pod && evidence.ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod
	return deletes && (!known || !at.Latest.Before(injected.Earliest))
}

// mayHaveEnded tells whether a server may have ended at a moment by a fault. It may end long after one that its node has been away since.
func mayHaveEnded(e evidence.Run, f v1alpha1.FaultStatus, c provenance.Container, at evidence.Moment) bool {
	if replaced(c) {
		return mayHaveReplaced(e, f, c, at)
	}
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
