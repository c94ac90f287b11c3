package load

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
)

func Dropped(_ evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil || status.Load.DroppedIterations == nil || *status.Load.DroppedIterations == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests were not sent for want of free users: the latency percentiles are lower bounds.", *status.Load.DroppedIterations)}
}

func RecorderRestarted(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || e.Recorder.Restarts == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The recorder restarted %d time(s): writes whose outcome it did not record, up to a whole block of ids, count as indeterminate.", e.Recorder.Restarts)}
}

// SomeFailed warns of figures that many failed requests make hard to read.
func SomeFailed(_ evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	l := status.Load
	if l == nil || l.Failures*100 <= l.Requests {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d requests failed: requestsPerSecond is of the others, and a percentile of the latency that leaves fewer out is a lower bound.",
		l.Failures, l.Requests)}
}

// WindowsCut warns of stages whose throughput is not that of the time that was asked for.
func WindowsCut(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	for _, asked := range e.Spec.Load.Stages {
		for _, s := range status.Load.Stages {
			if s.Name != asked.Name || asked.Discard || s.DurationMilliseconds == nil {
				continue
			}
			planned, lasted := asked.DurationSeconds*1000, *s.DurationMilliseconds
			if lasted < planned*95/100 || lasted > planned*105/100 {
				found = append(found, fmt.Sprintf("Stage %s had requests for %d ms instead of %d ms: requestsPerSecond is over that time.", s.Name, lasted, planned))
			}
		}
	}
	return found
}

// AnsweredLate warns of stages whose throughput has no part of many requests, since their answers came after its end.
func AnsweredLate(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	for _, s := range e.Recorder.Stages {
		if late := s.Requests - s.Answered; !s.Discarded && s.DurationMicroseconds > 0 && late*20 > s.Requests {
			found = append(found, fmt.Sprintf("Stage %s: %d of %d requests had their answer after its end: requestsPerSecond is of the others.", s.Name, late, s.Requests))
		}
	}
	return found
}

// StagesEmpty says why a stage has no figures.
func StagesEmpty(_ evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	for _, s := range status.Load.Stages {
		if s.Requests == 0 {
			found = append(found, fmt.Sprintf("Stage %s had no request, and so has no figures.", s.Name))
		}
	}
	return found
}

// StagesUnnamed says what the stages are when the load does not tell.
func StagesUnnamed(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var unnamed int64
	for _, s := range e.Recorder.Stages {
		unnamed += s.Unnamed
	}
	if unnamed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests named no stage: each is in the stage in whose planned time it arrived, and the last stage is as long as the load went on.", unnamed)}
}
