package verdict

import (
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

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

// closedLoopTolerance is in thousandths.
const closedLoopTolerance = 10

func (c closedLoop) holds() metav1.ConditionStatus {
	if c.permille > 1000+closedLoopTolerance || c.permille < 1000-closedLoopTolerance-c.cut {
		return metav1.ConditionFalse
	}
	return metav1.ConditionTrue
}

// LatencyContradicted tells of an experiment with figures of its load that a closed loop speaks against its latency.
func LatencyContradicted(spec v1alpha1.ReplicationExperimentSpec, l *v1alpha1.LoadStatus) bool {
	return contradicted(spec, l) != ""
}

// contradicted says why the latency of a run cannot be relied on, "" when no closed loop among the stages that count speaks
// against it.
func contradicted(spec v1alpha1.ReplicationExperimentSpec, l *v1alpha1.LoadStatus) string {
	for _, s := range l.Stages {
		discarded := slices.ContainsFunc(spec.Load.Stages, func(asked v1alpha1.Stage) bool { return asked.Name == s.Name && asked.Discard })
		if s.ClosedLoopHolds == metav1.ConditionFalse && !discarded {
			return fmt.Sprintf("in stage %s the clients' requests do not add up to the users that there were", s.Name)
		}
	}
	return ""
}

// closedLoopUnsound compares the witness with k6.
func closedLoopUnsound(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	for _, s := range status.Load.Stages {
		if s.ClosedLoopHolds == metav1.ConditionFalse {
			found = append(found, fmt.Sprintf("Stage %s: the witness's throughput x k6's mean iteration / users is %d.%03d, outside 1 ± 0.01: its users were not always busy, or one of the two measures wrongly.",
				s.Name, *s.ClosedLoopPermille/1000, *s.ClosedLoopPermille%1000))
		}
	}
	return found
}
