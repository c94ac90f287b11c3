package load

import (
	"math"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/percentile"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

func latencyStatus(l *wire.Latency) *v1alpha1.LatencyStatus {
	if l == nil {
		return nil
	}
	return &v1alpha1.LatencyStatus{
		MeanMicroseconds: l.MeanMicroseconds, P50Microseconds: l.P50Microseconds, P95Microseconds: l.P95Microseconds,
		P99Microseconds: l.P99Microseconds, MaxMicroseconds: l.MaxMicroseconds,
	}
}

// lowerLatencies are the percentiles of which the true one may be longer: by the recorder's marks, and all of them where requests were not sent,
// each of which would have been slow.
func lowerLatencies(l *wire.Latency, dropped *int64) []v1alpha1.Percentile {
	if l == nil || dropped != nil && *dropped == 0 {
		return ptr.Deref(l, wire.Latency{}).LowerBounds
	}
	return []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
}

// percents are the percentiles of the latency.
var percents = map[v1alpha1.Percentile]int64{v1alpha1.P50: 50, v1alpha1.P95: 95, v1alpha1.P99: 99, v1alpha1.Max: 100}

// whyLower says why a percentile of the latency is a lower bound.
func whyLower(p v1alpha1.Percentile, f v1alpha1.StageFigures) finding.Finding {
	percent := percents[p]
	switch {
	case f.DroppedIterations == nil:
		return finding.Of(finding.DroppedUnknown)
	case *f.DroppedIterations > 0:
		return finding.Of(finding.WereDropped, *f.DroppedIterations)
	case percentile.Rank(percent, f.Requests) > f.Requests-f.Failures:
		return finding.Of(finding.TooManyFailed, f.Failures, f.Requests, 100-percent)
	}
	return finding.Of(finding.PausedTooLong, compare.Paused(f), 100-percent)
}

// rate is the throughput in thousandths of a request per second. Without the recorder's pauses, in which nothing was answered, it would have been
// up to most, nil where the recorder never ran. Without a duration there is none.
func rate(r wire.StageResult) (least, most *int64) {
	if r.DurationMicroseconds <= 0 {
		return nil, nil
	}
	milli := func(microseconds int64) int64 {
		return int64(math.Round(float64(r.Succeeded) * 1e9 / float64(microseconds)))
	}
	least = ptr.To(milli(r.DurationMicroseconds))
	if ran := r.DurationMicroseconds - r.PausedMicroseconds; ran > 0 {
		most = ptr.To(max(*least, milli(ran)))
	}
	return least, most
}

// rounded is a throughput for people; a lower bound is rounded down.
func rounded(least, most *int64) *int64 {
	switch {
	case least == nil:
		return nil
	case most == nil || *most > *least:
		return ptr.To(*least / 1000)
	}
	return ptr.To((*least + 500) / 1000)
}

// stoodStill tells of times in which the recorder itself did not run, where a percentile may hide them.
func stoodStill(e evidence.Run, status *evidence.Status) []finding.Finding {
	if status.Load == nil {
		return nil
	}
	var found []finding.Finding
	hidden := func(r wire.StageResult) bool {
		return percentile.LeavesOutLess(99, r.PausedRequests, r.Requests) || percentile.LeavesOutLess(99, r.PausedMicroseconds, r.DurationMicroseconds)
	}
	if r := e.Recorder.Load; hidden(r) {
		found = append(found, finding.Of(finding.RecorderPaused, evidence.Milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000, r.PausedRequests, r.Requests))
	}
	for _, r := range e.Recorder.Stages {
		if !r.Discarded && hidden(r) {
			found = append(found, finding.Of(finding.RecorderPausedInStage, r.Name, evidence.Milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000))
		}
	}
	return found
}
