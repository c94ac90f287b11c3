package load

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// closedLoop is Little's law, users = throughput x time in the system, as a share of the users that there are.
type closedLoop struct {
	share float64
	// cut is by how much a sound stage may lie below 1: at its end each user has one request under way, which is not counted.
	cut float64
}

// MeanUsers of a closed loop over its time: they come one after the other where the stage spawns them, the first at once.
func MeanUsers(s v1alpha1.Stage) float64 {
	users := float64(s.ClosedUsers())
	if s.SpawnPerSecond == 0 {
		return users
	}
	return users - users*(users-1)/2/float64(s.SpawnPerSecond)/float64(s.DurationSeconds)
}

// closedLoopOf takes the throughput from the recorder and the time from k6, so that an error of either is found. It is nil in an open loop, in a
// user's own script, and without a window or iterations.
func closedLoopOf(e evidence.Run, r wire.StageResult) *closedLoop {
	if e.K6 == nil || e.Spec.Load.Script != nil || r.DurationMicroseconds == 0 {
		return nil
	}
	for _, s := range e.Spec.Load.Stages {
		for _, k := range e.K6.Stages {
			if s.Name != r.Name || k.Name != r.Name || s.ClosedUsers() == 0 || k.Iterations == 0 {
				continue
			}
			time := float64(k.IterationMeanMicroseconds) / float64(r.DurationMicroseconds)
			return &closedLoop{share: float64(r.Answered) * time / MeanUsers(s), cut: time}
		}
	}
	return nil
}

const closedLoopTolerance = 0.01

func (c closedLoop) holds() metav1.ConditionStatus {
	if c.share > 1+closedLoopTolerance || c.share < 1-closedLoopTolerance-c.cut {
		return metav1.ConditionFalse
	}
	return metav1.ConditionTrue
}

// contradicted says why the latency of a load cannot be relied on, "" where no closed loop that counts speaks against it.
func contradicted(spec v1alpha1.ReplicationExperimentSpec, l *v1alpha1.LoadStatus) string {
	for _, s := range l.Stages {
		discarded := slices.ContainsFunc(spec.Load.Stages, func(asked v1alpha1.Stage) bool { return asked.Name == s.Name && asked.Discard })
		if s.ClosedLoopHolds == metav1.ConditionFalse && !discarded {
			return loopBroken(s.Name)
		}
	}
	return ""
}

// loopBroken says that the closed loop of a stage contradicts its latency.
func loopBroken(stage string) string {
	return finding.Of(finding.LoopBroken, stage).String()
}

// closedLoopUnsound compares the recorder with k6.
func closedLoopUnsound(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	for _, r := range e.Recorder.Stages {
		if c := closedLoopOf(e, r); c != nil && c.holds() == metav1.ConditionFalse {
			found = append(found, finding.Of(finding.ClosedLoopBroken, r.Name, c.share))
		}
	}
	return found
}
