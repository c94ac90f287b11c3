package verdict

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// percents are the percentiles of the latency.
var percents = []struct {
	name    v1alpha1.Percentile
	percent int64
}{{v1alpha1.P50, 50}, {v1alpha1.P95, 95}, {v1alpha1.P99, 99}, {v1alpha1.Max, 100}}

// latencyStatus adds to the witness's marks what the witness cannot know: that requests were not sent, each of which would
// have been slow.
func latencyStatus(l *wire.Latency, dropped *int64) *v1alpha1.LatencyStatus {
	if l == nil {
		return nil
	}
	s := &v1alpha1.LatencyStatus{
		MeanMicroseconds: l.MeanMicroseconds, P50Microseconds: l.P50Microseconds, P95Microseconds: l.P95Microseconds,
		P99Microseconds: l.P99Microseconds, MaxMicroseconds: l.MaxMicroseconds, LowerBounds: slices.Clone(l.LowerBounds),
	}
	if dropped != nil && *dropped == 0 {
		return s
	}
	s.LowerBounds = nil
	for _, p := range percents {
		s.LowerBounds = append(s.LowerBounds, p.name)
	}
	return s
}

// isLower tells whether a percentile of the latency is a lower bound.
func isLower(p v1alpha1.Percentile, f v1alpha1.StageFigures) bool {
	return f.Latency != nil && slices.Contains(f.Latency.LowerBounds, p)
}

// whyLower says why a percentile of the latency is a lower bound, "" when it is none.
func whyLower(p v1alpha1.Percentile, f v1alpha1.StageFigures) string {
	percent := int64(0)
	for _, known := range percents {
		if known.name == p {
			percent = known.percent
		}
	}
	switch {
	case !isLower(p, f):
		return ""
	case f.DroppedIterations == nil:
		return "it is not known how many requests were not sent"
	case *f.DroppedIterations > 0:
		return fmt.Sprintf("%d requests were not sent", *f.DroppedIterations)
	case percentile.Rank(percent, f.Requests) > f.Requests-f.Failures:
		return fmt.Sprintf("%d of %d requests failed, more than the %d%% that it leaves out", f.Failures, f.Requests, 100-percent)
	}
	return fmt.Sprintf("%s, in which more came than the %d%% that it leaves out", paused(f), 100-percent)
}

func paused(f v1alpha1.StageFigures) string {
	return fmt.Sprintf("the witness itself did not run for %d of %d ms", ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0))
}

// whileItRan is a rate of the time in which the witness ran: without its pauses, in which nothing was answered, it would have been no more.
func whileItRan(rate int64, f v1alpha1.StageFigures) int64 {
	all, not := ptr.Deref(f.DurationMilliseconds, 0), ptr.Deref(f.PausedMilliseconds, 0)
	switch {
	case not <= 0:
		return rate
	case not >= all:
		return math.MaxInt64
	}
	return int64(math.Ceil(float64(rate) * float64(all) / float64(all-not)))
}

// WhyNoRate says why the throughput of a load or a stage, and what it counted, are not to be compared: the witness, which all requests go
// through, did not run for more than a hundredth of the time. "" where they may be.
func WhyNoRate(f v1alpha1.StageFigures) string {
	if percentile.LeavesOutLess(99, ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0)) {
		return paused(f)
	}
	return ""
}

// stoodStill tells of times in which the witness itself did not run, where a percentile may hide them.
func stoodStill(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	hidden := func(r wire.StageResult) bool {
		return percentile.LeavesOutLess(99, r.PausedRequests, r.Requests) || percentile.LeavesOutLess(99, r.PausedMicroseconds, r.DurationMicroseconds)
	}
	if r := e.Witness.Load; hidden(r) {
		found = append(found, fmt.Sprintf("The witness itself did not run for %d of %d ms, in which about %d of %d requests came: percentiles of the latency and of the lag that leave out less are lower bounds.",
			milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000, r.PausedRequests, r.Requests))
	}
	for _, r := range e.Witness.Stages {
		if !r.Discarded && hidden(r) {
			found = append(found, fmt.Sprintf("In stage %s the witness itself did not run for %d of %d ms.", r.Name, milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000))
		}
	}
	return found
}
