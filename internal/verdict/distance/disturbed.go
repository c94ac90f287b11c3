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

// disturbed is the reason why a node may have been away during a stage, if there is one. Then commits waited for unknown nodes.
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

// outWhile is the reason why a node may have been away in a time that meets a condition, if there is one.
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

// placesUnknown is the reason why it is unknown of every stage whether all nodes were there, if there is one.
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
		if n.Interruptions > 0 { // the replaced pod's record of its absences may be gone with it
			return finding.Of(finding.PodReplaced, n.Name)
		}
	}
	return finding.Finding{}
}

// unheld is the reason why a stage has no bound though others may have one: a node was away, or not at its distance.
func unheld(e evidence.Run, r wire.StageResult) finding.Finding {
	return finding.First(disturbed(e, r), lateIn(e, r), tripUnknown(e, r))
}

// stagesDisturbed finds closed loops without a bound, since a node was away or not at its distance.
func stagesDisturbed(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, r := range evidence.StagesOf(e) {
		if why := unheld(e, r); !why.None() && isClosed(e.Spec, r.Name) {
			found = append(found, finding.Of(finding.NoBoundInStage, r.Name, why))
		}
	}
	return found
}

// isClosed reports whether a stage is a closed loop at a distance. The stage in which the links are set is not.
func isClosed(spec v1alpha1.ReplicationExperimentSpec, stage string) bool {
	first := spec.Load.StagesWithoutDistance()
	if first > 0 {
		first++
	}
	return slices.ContainsFunc(spec.Load.Stages[min(first, len(spec.Load.Stages)):], func(asked v1alpha1.Stage) bool {
		return asked.Name == stage && asked.ClosedUsers() > 0
	})
}

// outBy is the time in which a node may have been away because of a fault. An unknown beginning or end is zero.
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
