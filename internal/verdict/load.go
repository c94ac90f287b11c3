package verdict

import (
	"math"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func loadStatus(e Evidence) *v1alpha1.LoadStatus {
	if e.Witness == nil || e.Witness.Incomplete != "" {
		return nil
	}
	l := &v1alpha1.LoadStatus{StageFigures: stageFigures(e.Witness.Load, droppedIterations(e)), StaleReads: staleReads(e)}
	for _, s := range e.Witness.Stages {
		stage := v1alpha1.StageStatus{Name: s.Name, StageFigures: stageFigures(s, droppedIn(e, s.Name))}
		if c := closedLoopOf(e, s); c != nil {
			stage.ClosedLoopPermille = &c.permille
		}
		l.Stages = append(l.Stages, stage)
	}
	return l
}

// droppedIterations of the stages that count, or of all when a user's own script has stages that nobody knows.
func droppedIterations(e Evidence) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil {
		return ptr.To(e.K6.DroppedIterations)
	}
	sum := int64(0)
	for _, s := range e.Spec.Load.Stages {
		if s.Discard {
			continue
		}
		dropped := droppedIn(e, s.Name)
		if dropped == nil {
			return nil
		}
		sum += *dropped
	}
	return &sum
}

// droppedIn a stage; nil when that is not known.
func droppedIn(e Evidence, stage string) *int64 {
	if e.K6 == nil {
		return nil
	}
	if e.Spec.Load.Script != nil && e.K6.DroppedIterations == 0 {
		return ptr.To[int64](0)
	}
	for _, k := range e.K6.Stages {
		if k.Name == stage {
			return ptr.To(k.DroppedIterations)
		}
	}
	return nil
}

func stageFigures(r wire.StageResult, dropped *int64) v1alpha1.StageFigures {
	f := v1alpha1.StageFigures{
		Requests: r.Requests, Failures: r.Failures, DroppedIterations: dropped, Latency: latencyStatus(r.Latency, dropped),
	}
	if r.PausedMicroseconds > 0 {
		f.PausedMilliseconds = ptr.To((r.PausedMicroseconds + 999) / 1000)
	}
	if d := r.DurationMicroseconds; d > 0 {
		f.DurationMilliseconds = ptr.To((d + 500) / 1000)
		f.RequestsPerSecond = ptr.To(int64(math.Round(float64(r.Succeeded) * 1e6 / float64(d))))
	}
	return f
}

// closedLoop is Little's law, users = throughput x time in the system, in thousandths of the users that there are.
type closedLoop struct {
	permille int64
	// cut is by how much a sound stage may lie below 1000: at its end each user has one request under way, which is not counted.
	cut int64
}

// meanUsers of a closed loop over its time: they come one after the other where the stage spawns them, the first at once.
func meanUsers(s v1alpha1.Stage) float64 {
	users := float64(s.Users)
	if s.SpawnPerSecond == 0 {
		return users
	}
	return users - users*(users-1)/2/float64(s.SpawnPerSecond)/float64(s.DurationSeconds)
}

// closedLoopOf takes the throughput from the witness and the time from k6, so that an error of either is found. An
// iteration is one request with k6's own work around it, during which the user is busy too. Failed requests count, since
// users are busy with them. It is nil when there is no such law or no such figures: in an open loop, in a user's own
// script, without a window, without iterations.
func closedLoopOf(e Evidence, r wire.StageResult) *closedLoop {
	if e.K6 == nil || e.Spec.Load.Script != nil || r.DurationMicroseconds == 0 {
		return nil
	}
	for _, s := range e.Spec.Load.Stages {
		for _, k := range e.K6.Stages {
			if s.Name != r.Name || k.Name != r.Name || s.Users == 0 || k.Iterations == 0 {
				continue
			}
			time := float64(k.IterationMeanMicroseconds) / float64(r.DurationMicroseconds)
			return &closedLoop{
				permille: int64(math.Round(float64(r.Answered) * time * 1000 / meanUsers(s))),
				cut:      int64(math.Ceil(time * 1000)),
			}
		}
	}
	return nil
}
