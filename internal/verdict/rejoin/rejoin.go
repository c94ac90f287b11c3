// Package rejoin judges how long a node took until it was back in its place. It is pure.
package rejoin

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

const (
	// noticed is how long after a fault, or after its hold, a topology may take to find that the node is not in its place.
	noticed = 5 * time.Second
	// rejoinSlack is by how much a time until a node was back may be uncertain, or by a twentieth of itself.
	rejoinSlack = 50 * time.Millisecond
)

// rejoin is how long a node took until it was back in its place, or why that is unknown.
type rejoin struct {
	low, high int64 // milliseconds
	resync    *v1alpha1.ResyncStatus
	unknown   finding.Finding
}

// Fill writes into the status how long each node that a fault has moved took to come back.
func Fill(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	for i := range s.Faults {
		f := &s.Faults[i]
		f.RejoinMilliseconds, f.Resync = nil, nil
		if r := rejoinOf(e, e.Faults, i); r.unknown.None() {
			f.RejoinMilliseconds, f.Resync = ptr.To(r.high), r.resync
		}
	}
}

// Bound says which rejoin times are not exact.
func Bound(b *figure.Bounds, e evidence.Run, _ *evidence.Status) {
	for i, f := range e.Faults {
		if r := rejoinOf(e, e.Faults, i); r.unknown.None() {
			b.Between("faults["+f.Name+"].rejoinMilliseconds", r.low, r.high, finding.Of(finding.TwoClocks).String())
		}
	}
}

// Findings of the rejoins.
func Findings(e evidence.Run, _ *evidence.Status) []finding.Finding { return rejoinsUnknown(e) }

// rejoinsUnknown says why a time is not stated. A fault that is not confirmed has none.
func rejoinsUnknown(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for i, f := range e.Faults {
		if r := rejoinOf(e, e.Faults, i); !r.unknown.None() && f.Confirmed == "True" {
			found = append(found, finding.Of(finding.RejoinUnknown, f.Pod, f.Name, r.unknown))
		}
	}
	return found
}

func rejoinOf(e evidence.Run, faults []v1alpha1.FaultStatus, i int) rejoin {
	f := faults[i]
	unknown := func(code finding.Code, params ...any) rejoin { return rejoin{unknown: finding.Of(code, params...)} }
	at, known := evidence.Injected(f)
	switch {
	case f.Confirmed != "True":
		return unknown(finding.FaultNotConfirmed)
	case !e.State.Known:
		return unknown(finding.TopologyUnknown)
	case !evidence.Unanswered(e, f.Pod).None():
		return rejoin{unknown: evidence.Unanswered(e, f.Pod)}
	case !evidence.ActionOf(e.Spec, f).EndsServer() && len(e.State.Silent) > 0: // see others
		return unknown(finding.MayHaveTakenOverMeanwhile, evidence.Unanswered(e, e.State.Silent...))
	case !known:
		return unknown(finding.FaultClockUnknown)
	}
	free := at // from when on the node could come back
	if hold := evidence.PlannedOf(e.Spec, f).HoldSeconds; hold != 0 {
		if f.ReleasedTime == nil {
			return unknown(finding.HoldEndUnknown)
		}
		free = evidence.ReleasedMoment(e, f)
	}
	a := AbsenceOf(e, faults, i, at, free)
	if a == nil {
		return rejoin{unknown: noAbsence(e, f.Pod)}
	}
	if a.BackAt == nil {
		return unknown(finding.NotBack)
	}
	if a.RequestedAt != nil { // both by one clock
		took := evidence.Milliseconds(a.BackAt.Sub(a.RequestedAt.Time).Microseconds())
		return rejoin{low: took, high: took, resync: resync(e.Spec, f, a)}
	}
	back := evidence.Told(a.BackAt.Time, *evidence.ClockOf(e.Recorder, a.Clock))
	if back.Latest.Before(free.Earliest) {
		return unknown(finding.BackTooSoon)
	}
	low, high := max(back.Earliest.Sub(free.Latest), 0), back.Latest.Sub(free.Earliest)
	if high-low > max(rejoinSlack, high/20) {
		return unknown(finding.ClocksTooFar, f.Pod, a.Clock)
	}
	return rejoin{low: evidence.Milliseconds(low.Microseconds()), high: evidence.Milliseconds(high.Microseconds()), resync: resync(e.Spec, f, a)}
}

// noAbsence says why no absence of a node is that of a fault.
func noAbsence(e evidence.Run, node string) finding.Finding {
	for _, a := range e.State.Absences {
		if a.Node == node && evidence.ClockOf(e.Recorder, a.Clock) == nil {
			return finding.Of(finding.ClockUnknown, a.Clock)
		}
	}
	return finding.Of(finding.DidNotLeave)
}

// AbsenceOf returns the time at which a fault had its node out of its place: the first that began after the fault, and not so late
// after it that it may be another's.
func AbsenceOf(e evidence.Run, faults []v1alpha1.FaultStatus, i int, at, free evidence.Moment) *topology.Absence {
	until := timespan.Later(at.Latest, free.Latest).Add(noticed)
	for _, next := range others(e, faults, i, at) {
		until = evidence.Earlier(until, next)
	}
	for n := range e.State.Absences {
		a := &e.State.Absences[n]
		clock := evidence.ClockOf(e.Recorder, a.Clock)
		if a.Node != faults[i].Pod || clock == nil {
			continue
		}
		if left := evidence.Told(a.LeftAt.Time, *clock); !left.Latest.Before(at.Earliest) && left.Earliest.Before(until) {
			return a
		}
	}
	return nil
}

// others are when something else may have moved the node of a fault: the next fault on it, and, of a fault after which it need not have
// moved at all, the next one anywhere and the next failovers from other nodes. Faults of the same moment, and what comes of them, are one.
func others(e evidence.Run, faults []v1alpha1.FaultStatus, i int, at evidence.Moment) []time.Time {
	var found []time.Time
	certain, joint := evidence.ActionOf(e.Spec, faults[i]).EndsServer(), []string{faults[i].Pod}
	this := evidence.Event{Moment: at, Known: true, Plan: faults[i].PlannedTime.Time}
	for j, f := range faults {
		m, known := evidence.Injected(f)
		switch {
		case j == i || f.InjectedTime == nil:
		case f.Pod != faults[i].Pod && evidence.Together(this, evidence.Event{Moment: m, Known: known, Plan: f.PlannedTime.Time}):
			joint = append(joint, f.Pod)
		case !known && !certain: // it may have come at any time
			found = append(found, at.Latest)
		case !known || m.Earliest.Before(at.Latest):
		case f.Pod == faults[i].Pod, !certain:
			found = append(found, m.Earliest)
		}
	}
	if certain {
		return found
	}
	return append(found, failoversFrom(e, joint, at)...)
}

// failoversFrom are when, after a moment, other nodes than these ceased to be the writer.
func failoversFrom(e evidence.Run, nodes []string, after evidence.Moment) []time.Time {
	var found []time.Time
	for _, f := range e.State.Failovers {
		clock := evidence.ClockOf(e.Recorder, f.Clock)
		if clock == nil || slices.Contains(nodes, f.OldWriter) {
			continue
		}
		if m := evidence.Told(f.DetectedAt.Time, *clock); !m.Earliest.Before(after.Latest) {
			found = append(found, m.Earliest)
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
	switch evidence.ActionOf(spec, f) {
	case v1alpha1.ActionKill, v1alpha1.ActionKillServer, v1alpha1.ActionDeletePod:
		method = v1alpha1.ResyncRestart
	case v1alpha1.ActionSwitchover:
		method = v1alpha1.ResyncReattach
	}
	return &v1alpha1.ResyncStatus{Method: method}
}
