package verdict

import (
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func loadStatus(e Evidence) *v1alpha1.LoadStatus {
	if e.Witness == nil || e.Witness.Incomplete != "" {
		return nil
	}
	l := &v1alpha1.LoadStatus{StageFigures: stageFigures(e.Witness.Load), DroppedIterations: droppedIterations(e)}
	l.StaleReads = staleReads(e)
	for _, s := range e.Witness.Stages {
		stage := v1alpha1.StageStatus{Name: s.Name, StageFigures: stageFigures(s)}
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
		for _, k := range e.K6.Stages {
			if s.Name == k.Name && !s.Discard {
				sum += k.DroppedIterations
			}
		}
	}
	return &sum
}

func stageFigures(r wire.StageResult) v1alpha1.StageFigures {
	f := v1alpha1.StageFigures{Requests: r.Requests, Failures: r.Failures}
	if d := r.DurationMicroseconds; d > 0 {
		f.DurationMilliseconds = ptr.To((d + 500) / 1000)
		f.RequestsPerSecond = ptr.To(int64(math.Round(float64(r.Succeeded) * 1e6 / float64(d))))
	}
	if l := r.Latency; l != nil {
		f.Latency = &v1alpha1.LatencyStatus{
			MeanMicroseconds: l.MeanMicroseconds, P50Microseconds: l.P50Microseconds, P95Microseconds: l.P95Microseconds,
			P99Microseconds: l.P99Microseconds, MaxMicroseconds: l.MaxMicroseconds,
		}
	}
	return f
}

// percentLeftOut is how many of a hundred requests lie beyond a percentile.
var percentLeftOut = map[v1alpha1.Metric]int64{"p50Milliseconds": 50, "p95Milliseconds": 5, "p99Milliseconds": 1}

// unanswered says why a percentile of the latency is a lower bound of what the clients saw, "" when it is none, and of any
// other metric. What was not sent would have been slow. What failed never got its answer, however soon it failed: the
// percentile of all is then not among those that succeeded, unless it leaves as many out.
func unanswered(m v1alpha1.Metric, l *v1alpha1.LoadStatus) string {
	percent, ok := percentLeftOut[m]
	switch {
	case !ok || l == nil:
		return ""
	case l.DroppedIterations == nil:
		return "it is not known how many requests were not sent"
	case *l.DroppedIterations > 0:
		return fmt.Sprintf("%d requests were not sent", *l.DroppedIterations)
	case l.Failures*100 > l.Requests*percent:
		return fmt.Sprintf("%d of %d requests failed, more than the %d%% that it leaves out", l.Failures, l.Requests, percent)
	}
	return ""
}

// closedLoop is Little's law, users = throughput x time in the system, in thousandths of the users that there are.
type closedLoop struct {
	permille int64
	// cut is by how much a sound stage may lie below 1000: at its end each user has one request under way, which is not counted.
	cut int64
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
				permille: int64(math.Round(float64(r.Answered) * time * 1000 / float64(s.Users))),
				cut:      int64(math.Ceil(time * 1000)),
			}
		}
	}
	return nil
}
