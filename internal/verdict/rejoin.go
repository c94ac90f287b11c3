package verdict

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
)

const (
	// noticed is how long after a fault, or after its hold, a topology may take to find that the node is not in its place.
	noticed = 5 * time.Second
	// rejoinSlack is by how much a time until a node was back may be uncertain, or by a twentieth of itself.
	rejoinSlack = 50 * time.Millisecond
)

// rejoin is how long a node took until it was back in its place, or why nobody knows.
type rejoin struct {
	milliseconds int64
	resync       *v1alpha1.ResyncStatus
	unknown      string
}

// stateRejoins writes into the status how long each node that a fault has moved took to come back.
func stateRejoins(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	for i := range s.Faults {
		f := &s.Faults[i]
		f.RejoinMilliseconds, f.Resync = nil, nil
		if r := rejoinOf(e, e.Faults, i); r.unknown == "" {
			f.RejoinMilliseconds, f.Resync = ptr.To(r.milliseconds), r.resync
		}
	}
}

// rejoinsUnknown says why a time is not stated. One of a fault that is not confirmed is nobody's.
func rejoinsUnknown(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	for i, f := range e.Faults {
		if r := rejoinOf(e, e.Faults, i); r.unknown != "" && f.Confirmed == "True" {
			found = append(found, fmt.Sprintf("How long %s took to be back in its place after fault %s is not stated: %s.", f.Pod, f.Name, r.unknown))
		}
	}
	return found
}

func rejoinOf(e Evidence, faults []v1alpha1.FaultStatus, i int) rejoin {
	f := faults[i]
	unknown := func(format string, args ...any) rejoin { return rejoin{unknown: fmt.Sprintf(format, args...)} }
	at, known := injected(f)
	switch {
	case f.Confirmed != "True":
		return unknown("the fault is not confirmed")
	case !e.State.Known:
		return unknown("the topology could not be asked")
	case unansweredAmong(e, f.Pod) != "":
		return unknown("%s", unansweredAmong(e, f.Pod))
	case !actionOf(e.Spec, f).EndsServer() && len(e.State.Silent) > 0: // see others
		return unknown("%s, and may have taken over meanwhile", unansweredAmong(e, e.State.Silent...))
	case !known:
		return unknown("when the fault came by the recorder's clock is not known")
	}
	free := at // from when on the node could come back
	if hold := plannedOf(e.Spec, f).HoldSeconds; hold != 0 {
		if f.ReleasedTime == nil {
			return unknown("when its hold ended is not known")
		}
		free = releasedMoment(e, f)
	}
	a := absenceOf(e, faults, i, at, free)
	if a == nil {
		return unknown("the topology did not see it leave its place, or not for this fault alone")
	}
	if a.BackAt == nil {
		return unknown("it was not back when the run was judged")
	}
	clock := clockOf(e.Recorder, a.Clock)
	if a.RequestedAt != nil { // both by one clock
		return rejoin{milliseconds: milliseconds(a.BackAt.Sub(a.RequestedAt.Time).Microseconds()), resync: resync(e.Spec, f, a)}
	}
	if clock == nil {
		return unknown("the clock of %s was never measured", a.Clock)
	}
	back := told(a.BackAt.Time, *clock)
	if back.latest.Before(free.earliest) {
		return unknown("it was back before the fault had ended")
	}
	low, high := max(back.earliest.Sub(free.latest), 0), back.latest.Sub(free.earliest)
	if high-low > max(rejoinSlack, high/20) {
		return unknown("the clocks of %s and %s differ too much", f.Pod, a.Clock)
	}
	return rejoin{milliseconds: milliseconds(high.Microseconds()), resync: resync(e.Spec, f, a)}
}

// releasedMoment is when a hold ended. Where the operator did the fault the agent ended its hold all the same.
func releasedMoment(e Evidence, f v1alpha1.FaultStatus) moment {
	clock := f.Clock
	if actionOf(e.Spec, f) == v1alpha1.ActionDeletePod {
		clock = clockOf(e.Recorder, f.Pod)
	}
	if clock == nil {
		return moment{}
	}
	return told(f.ReleasedTime.Time, *clock)
}

// absenceOf returns the time at which a fault had its node out of its place: the first that began after the fault, and not so late
// after it that it may be another's.
func absenceOf(e Evidence, faults []v1alpha1.FaultStatus, i int, at, free moment) *topology.Absence {
	until := timespan.Later(at.latest, free.latest).Add(noticed)
	for _, next := range others(e, faults, i, at) {
		until = earlier(until, next)
	}
	for n := range e.State.Absences {
		a := &e.State.Absences[n]
		clock := clockOf(e.Recorder, a.Clock)
		if a.Node != faults[i].Pod || clock == nil {
			continue
		}
		if left := told(a.LeftAt.Time, *clock); !left.latest.Before(at.earliest) && left.earliest.Before(until) {
			return a
		}
	}
	return nil
}

// others are when something else may have moved the node of a fault: the next fault on it, and, of a fault after which it need not have
// moved at all, the next one anywhere and the next failovers from other nodes. Faults of the same moment, and what comes of them, are one.
func others(e Evidence, faults []v1alpha1.FaultStatus, i int, at moment) []time.Time {
	var found []time.Time
	certain, joint := actionOf(e.Spec, faults[i]).EndsServer(), []string{faults[i].Pod}
	this := event{moment: at, known: true, plan: faults[i].PlannedTime.Time}
	for j, f := range faults {
		m, known := injected(f)
		switch {
		case j == i || f.InjectedTime == nil:
		case f.Pod != faults[i].Pod && together(this, event{moment: m, known: known, plan: f.PlannedTime.Time}):
			joint = append(joint, f.Pod)
		case !known && !certain: // it may have come at any time
			found = append(found, at.latest)
		case !known || m.earliest.Before(at.latest):
		case f.Pod == faults[i].Pod, !certain:
			found = append(found, m.earliest)
		}
	}
	if certain {
		return found
	}
	return append(found, failoversFrom(e, joint, at)...)
}

// failoversFrom are when, after a moment, other nodes than these ceased to be the writer.
func failoversFrom(e Evidence, nodes []string, after moment) []time.Time {
	var found []time.Time
	for _, f := range e.State.Failovers {
		clock := clockOf(e.Recorder, f.Clock)
		if clock == nil || slices.Contains(nodes, f.OldWriter) {
			continue
		}
		if m := told(f.DetectedAt.Time, *clock); !m.earliest.Before(after.latest) {
			found = append(found, m.earliest)
		}
	}
	return found
}

// resync is how a node caught up: as the topology says, else by the method that such a fault leaves.
func resync(spec v1alpha1.ReplicationExperimentSpec, f v1alpha1.FaultStatus, a *topology.Absence) *v1alpha1.ResyncStatus {
	if a.Resync != nil {
		return a.Resync
	}
	method := v1alpha1.ResyncResume
	switch actionOf(spec, f) {
	case v1alpha1.ActionKill, v1alpha1.ActionKillServer, v1alpha1.ActionDeletePod:
		method = v1alpha1.ResyncRestart
	case v1alpha1.ActionSwitchover:
		method = v1alpha1.ResyncReattach
	}
	return &v1alpha1.ResyncStatus{Method: method}
}

// plannedOf is a fault as it was asked for.
func plannedOf(spec v1alpha1.ReplicationExperimentSpec, status v1alpha1.FaultStatus) v1alpha1.Fault {
	for _, f := range spec.Faults {
		if f.Name == status.Fault {
			return f
		}
	}
	return v1alpha1.Fault{}
}
