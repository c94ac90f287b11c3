package distance

import (
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/rejoin"
	"replab.dev/internal/wire"
)

// disturbed says what may have had a node out of its place during a stage, nothing when nothing had. Whom a commit waited for then is not
// known: nodes that agree on each commit go on without one that they have given up, and where any replica will do the next nearest takes
// its place.
func disturbed(e evidence.Run, r wire.StageResult) finding.Finding {
	begin, end, known := evidence.WindowOf(e, r)
	who := outWhile(e, func(from, until time.Time) bool {
		return !known || from.Before(end) && (until.IsZero() || until.After(begin))
	})
	if !who.None() && !known {
		return finding.Of(finding.StageTimeUnknown, who)
	}
	return who
}

// outWhile says what may have had a node out of its place in a time that meets a condition, nothing when nothing had.
func outWhile(e evidence.Run, meets func(from, until time.Time) bool) finding.Finding {
	for i, f := range e.Faults {
		if f.InjectedTime != nil && meets(outBy(e, i)) {
			return finding.Of(finding.NodeAwayByFault, f.Name, f.Pod)
		}
	}
	for _, a := range e.State.Absences {
		from, until := time.Time{}, time.Time{}
		if c := evidence.ClockOf(e.Recorder, a.Clock); c != nil {
			from = evidence.Told(a.LeftAt.Time, *c).Earliest
			if a.BackAt != nil {
				until = evidence.Told(a.BackAt.Time, *c).Latest
			}
		}
		if meets(from, until) {
			return finding.Of(finding.NodeAway, a.Node)
		}
	}
	return finding.Finding{}
}

// placesUnknown says why it is unknown of every stage whether all nodes were in their places in it, nothing where it is known.
func placesUnknown(e evidence.Run) finding.Finding {
	if !e.State.Known {
		return finding.Of(finding.AbsencesUnknown)
	}
	for _, n := range e.State.Nodes {
		left := func(a topology.Absence) bool { return a.Node == n.Name && a.BackAt == nil }
		if n.Role == topology.Down && !slices.ContainsFunc(e.State.Absences, left) {
			return finding.Of(finding.NodeAwaySinceUnknown, n.Name)
		}
	}
	if e.Distance == nil {
		return finding.Of(finding.LinksNotInEffect)
	}
	for _, n := range e.Distance.Nodes {
		switch { // a node's own note of when it was away may be gone with its pod
		case n.Replacements > 0:
			return finding.Of(finding.PodReplaced, n.Name)
		case n.Resets > 0:
			return finding.Of(finding.PeerReplaced, n.Name)
		}
	}
	return finding.Finding{}
}

// unheld says why a stage is not held against the distance where others are: not all nodes were in their places, or at their distances.
// Nothing where it is.
func unheld(e evidence.Run, r wire.StageResult) finding.Finding {
	return finding.First(disturbed(e, r), lateIn(e, r), tripUnknown(e, r))
}

// stagesDisturbed tells of closed loops that have no bound since not all nodes were in their places, or at their distances.
func stagesDisturbed(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, r := range evidence.StagesOf(e) {
		if why := unheld(e, r); !why.None() && isClosed(e.Spec, r.Name) {
			found = append(found, finding.Of(finding.NoBoundInStage, r.Name, why))
		}
	}
	return found
}

// isClosed tells whether a stage is a closed loop at a distance. The one after stages without it is in part at none: the links are set in it.
func isClosed(spec v1alpha1.ReplicationExperimentSpec, stage string) bool {
	first := spec.Load.StagesWithoutDistance()
	if first > 0 {
		first++
	}
	return slices.ContainsFunc(spec.Load.Stages[min(first, len(spec.Load.Stages)):], func(asked v1alpha1.Stage) bool {
		return asked.Name == stage && asked.Users > 0
	})
}

// outBy is from when until when a fault may have had its node out of its place. An unknown beginning or end is zero.
func outBy(e evidence.Run, i int) (from, until time.Time) {
	f := e.Faults[i]
	at, known := evidence.Injected(f)
	if !known {
		return time.Time{}, time.Time{}
	}
	free := at
	if evidence.PlannedOf(e.Spec, f).HoldSeconds != 0 {
		if f.ReleasedTime == nil {
			return at.Earliest, time.Time{}
		}
		free = evidence.ReleasedMoment(e, f)
	}
	a := rejoin.AbsenceOf(e, e.Faults, i, at, free)
	switch {
	case free.Latest.IsZero(), a != nil && a.BackAt == nil, a == nil && evidence.ActionOf(e.Spec, f).EndsServer():
		return at.Earliest, time.Time{}
	case a != nil:
		return at.Earliest, timespan.Later(free.Latest, evidence.Told(a.BackAt.Time, *evidence.ClockOf(e.Recorder, a.Clock)).Latest)
	}
	return at.Earliest, free.Latest
}
