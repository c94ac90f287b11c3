package benchmark

import (
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
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
	wanted := []timespan.Span{{From: s.LoadStartTime.Time, To: s.LoadStartTime.Add(load)}}
	for _, f := range s.Faults {
		if f.InjectedTime != nil && f.ReleasedTime != nil {
			wanted = append(wanted, timespan.Span{From: f.InjectedTime.Time, To: f.ReleasedTime.Time})
		}
	}
	return s.CompletionTime.Sub(x.CreationTimestamp.Time) - timespan.Covered(wanted), true
}
