package compare

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
	"replab.dev/internal/verdict/finding"
)

const throughput = "load.requestsPerSecondMilli"

// Throughput of a run is in thousandths of a request per second. It is not ok where it was not measured.
func Throughput(s *v1alpha1.ReplicationExperimentStatus) (Interval, bool) {
	return Measured(s, throughput)
}

// Measured is a figure of a run, by its path in the status. It is not ok where it was not measured.
func Measured(s *v1alpha1.ReplicationExperimentStatus, path string) (Interval, bool) {
	f := figure.Read(s, path)
	return IntervalOf(f), f.Value != nil
}

// Paused says for how much of a time the recorder stood still.
func Paused(f v1alpha1.StageFigures) string {
	return say(finding.RecorderDidNotRun, ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0))
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
	return say(finding.LoopBroken, stage)
}
