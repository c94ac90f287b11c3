package benchmark

import (
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
)

// ToLoad is how long an experiment took from its creation to the first request of its load, false while there is none.
func ToLoad(x *v1alpha1.ReplicationExperiment) (time.Duration, bool) {
	if x.Status.LoadStartTime == nil {
		return 0, false
	}
	return x.Status.LoadStartTime.Sub(x.CreationTimestamp.Time), true
}

// Overhead is how much of a run's time neither the load nor the hold of a fault took, false when it is not over or had no
// load. A hold within the load is not subtracted a second time. Kubernetes tells the creation and the end in whole seconds.
func Overhead(x *v1alpha1.ReplicationExperiment) (time.Duration, bool) {
	s := x.Status
	if s.CompletionTime == nil || s.LoadStartTime == nil {
		return 0, false
	}
	var load time.Duration
	for _, stage := range x.Spec.Load.Stages {
		load += time.Duration(stage.DurationSeconds) * time.Second
	}
	wanted := []span{{s.LoadStartTime.Time, s.LoadStartTime.Add(load)}}
	for _, f := range s.Faults {
		if f.InjectedTime != nil && f.ReleasedTime != nil {
			wanted = append(wanted, span{f.InjectedTime.Time, f.ReleasedTime.Time})
		}
	}
	return s.CompletionTime.Sub(x.CreationTimestamp.Time) - covered(wanted), true
}

type span struct{ from, to time.Time }

// covered returns how long at least one of the spans lasts.
func covered(spans []span) (total time.Duration) {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var end time.Time
	for _, s := range spans {
		if s.from.Before(end) {
			s.from = end
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			end = s.to
		}
	}
	return total
}
