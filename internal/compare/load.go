package compare

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
)

// Throughput is in thousandths of a request per second. It is not ok where it was not measured.
func Throughput(f v1alpha1.StageFigures) (rate Interval, ok bool) {
	switch {
	case f.RequestsPerSecondMilli == nil:
		return rate, false
	case f.RequestsPerSecondMilliAtMost == nil:
		return AtLeast(float64(*f.RequestsPerSecondMilli)), true
	}
	return Interval{float64(*f.RequestsPerSecondMilli), float64(*f.RequestsPerSecondMilliAtMost)}, true
}

// percents are the percentiles of the latency.
var percents = map[v1alpha1.Percentile]int64{v1alpha1.P50: 50, v1alpha1.P95: 95, v1alpha1.P99: 99, v1alpha1.Max: 100}

// WhyLower says why a percentile of the latency is a lower bound, "" where it is none.
func WhyLower(p v1alpha1.Percentile, f v1alpha1.StageFigures) string {
	percent := percents[p]
	switch {
	case f.Latency == nil || !slices.Contains(f.Latency.LowerBounds, p):
		return ""
	case f.DroppedIterations == nil:
		return "it is not known how many requests were not sent"
	case *f.DroppedIterations > 0:
		return fmt.Sprintf("%d requests were not sent", *f.DroppedIterations)
	case percentile.Rank(percent, f.Requests) > f.Requests-f.Failures:
		return fmt.Sprintf("%d of %d requests failed, more than the %d%% that it leaves out", f.Failures, f.Requests, 100-percent)
	}
	return fmt.Sprintf("%s, in which more came than the %d%% that it leaves out", Paused(f), 100-percent)
}

// Paused says for how much of a time the recorder stood still.
func Paused(f v1alpha1.StageFigures) string {
	return fmt.Sprintf("the recorder itself did not run for %d of %d ms", ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0))
}

// HeldUp says why counts of a time are not compared, "" where they are: all requests go through the recorder, and it stood still for more than
// a hundredth of the time.
func HeldUp(f v1alpha1.StageFigures) string {
	if percentile.LeavesOutLess(99, ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0)) {
		return Paused(f)
	}
	return ""
}

// Contradicted says why the latency of a load cannot be relied on, "" where no closed loop that counts speaks against it.
func Contradicted(spec v1alpha1.ReplicationExperimentSpec, l *v1alpha1.LoadStatus) string {
	for _, s := range l.Stages {
		discarded := slices.ContainsFunc(spec.Load.Stages, func(asked v1alpha1.Stage) bool { return asked.Name == s.Name && asked.Discard })
		if s.ClosedLoopHolds == metav1.ConditionFalse && !discarded {
			return LoopBroken(s.Name)
		}
	}
	return ""
}

// LoopBroken says that the closed loop of a stage contradicts its latency.
func LoopBroken(stage string) string {
	return fmt.Sprintf("in stage %s the clients' requests do not add up to the users that there were", stage)
}
