package figures

import (
	"slices"

	"replab.dev/api/v1alpha1"
)

type goal = v1alpha1.GoalStatus

// openWithout are figures that are lower bounds where their other bound is absent.
var openWithout = []string{"degradedCommits", "receiveQueueMax", "degradedMilliseconds", "requestsPerSecondMilli"}

// counted are what members of a group count: what a server that died had counted since it was last read nobody knows.
var counted = []string{"certificationFailures", "forcedAborts", "deadlocks"}

// open tells of a figure without another bound whether it is a lower one.
func (d *Document) open(path, name string, lowerBounds []any) bool {
	switch {
	case slices.Contains(lowerBounds, any(name)), slices.Contains(openWithout, name):
		return true
	case slices.Contains(counted, name):
		return d.uncounted(path) || path == "status.replication.group."+name && goalOpen(d.Status.Goals, v1alpha1.Metric(name))
	case path == "status.load.staleReads": // of a user that was lost later, reads may have been stale
		return d.Recorder != nil && d.Status.Load != nil && d.Status.Load.StaleReads != nil && *d.Status.Load.StaleReads < d.Recorder.StaleReads
	case path == "status.writes.lost", path == "status.goals[lostWrites].measured":
		return LossesOpen(d.Status)
	}
	return false
}

// uncounted tells whether there is a time of which no sample of a member tells: of the one that the path names, or of any.
func (d *Document) uncounted(path string) bool {
	if d.Recorder == nil || d.Recorder.Group == nil {
		return false
	}
	all := segments(path)
	for _, n := range d.Recorder.Group.Nodes {
		if n.UncountedMicroseconds > 0 && (!slices.Contains(all, "nodes") || slices.Contains(all, n.Name)) {
			return true
		}
	}
	return false
}

// LossesOpen tells whether the measured losses are a lower bound. An operator of an earlier release says so by the goal alone.
func LossesOpen(s v1alpha1.ReplicationExperimentStatus) bool {
	return s.Writes != nil && slices.Contains(s.Writes.LowerBounds, v1alpha1.Lost) || goalOpen(s.Goals, "lostWrites")
}

// goalOpen tells whether a goal on a count stayed open though something was counted: that is a lower bound then.
func goalOpen(goals []goal, metric v1alpha1.Metric) bool {
	return slices.ContainsFunc(goals, func(g goal) bool {
		return g.Metric == metric && g.Measured != nil && g.Met == "Unknown"
	})
}
