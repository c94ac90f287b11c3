package load

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

func latencyStatus(l *wire.Latency) *v1alpha1.LatencyStatus {
	if l == nil {
		return nil
	}
	s := &v1alpha1.LatencyStatus{
		MeanMicroseconds: l.MeanMicroseconds, P50Microseconds: l.P50Microseconds, P95Microseconds: l.P95Microseconds,
		P99Microseconds: l.P99Microseconds, MaxMicroseconds: l.MaxMicroseconds,
	}
	if l.P75Microseconds > 0 { // a recorder of this version: no latency is below 1 µs
		s.StandardDeviationMicroseconds, s.P75Microseconds, s.P90Microseconds = &l.StandardDeviationMicroseconds, &l.P75Microseconds, &l.P90Microseconds
	}
	return s
}

// Percentiles of the latency, from the shortest.
var Percentiles = []struct {
	Name    v1alpha1.Percentile
	Percent int64
}{{v1alpha1.P50, 50}, {v1alpha1.P75, 75}, {v1alpha1.P90, 90}, {v1alpha1.P95, 95}, {v1alpha1.P99, 99}, {v1alpha1.Max, 100}}

// lower tells whether the true percentile may be longer than any that is known: by the recorder's marks, and where its rank falls among requests
// that were not sent, which are slower than all, or that may be longer than measured. Any request that was not sent makes the p99 a lower bound.
func lower(l *wire.Latency, f v1alpha1.StageFigures, p v1alpha1.Percentile, percent, longer int64) bool {
	unsent := f.DroppedIterations
	switch {
	case unsent == nil, slices.Contains(l.LowerBounds, p), *unsent > 0 && p == v1alpha1.P99:
		return true
	}
	return *unsent+longer > 0 && percentile.Rank(percent, f.Requests+*unsent)+longer > f.Requests-f.Failures
}

// most is the smallest known percentile that is no shorter than one of the requests together with those that were not sent, where some may be longer
// than measured.
func most(f v1alpha1.StageFigures, percent, longer int64) int64 {
	rank := percentile.Rank(percent, f.Requests+*f.DroppedIterations) + longer
	for _, p := range Percentiles {
		if value := figure.At(f.Latency, string(p.Name)); value != nil && percentile.Rank(p.Percent, f.Requests) >= rank {
			return *value
		}
	}
	return f.Latency.MaxMicroseconds
}

// whyLower says why a percentile of the latency is a lower bound.
func whyLower(percent int64, f v1alpha1.StageFigures) string {
	switch {
	case f.DroppedIterations == nil:
		return finding.Of(finding.DroppedUnknown).String()
	case *f.DroppedIterations > 0:
		return finding.Of(finding.WereDropped, *f.DroppedIterations).String()
	case percentile.Rank(percent, f.Requests) > f.Requests-f.Failures:
		return finding.Of(finding.TooManyFailed, f.Failures, f.Requests, 100-percent).String()
	}
	return compare.Paused(f)
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

// Bound says which figures of the load are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Load == nil {
		return
	}
	boundStage(b, "load.", e.Recorder.Load, s.Load.StageFigures, contradicted(e.Spec, s.Load))
	for i, stage := range s.Load.Stages { // they are the recorder's
		broken := ""
		if stage.ClosedLoopHolds == "False" {
			broken = loopBroken(stage.Name)
		}
		boundStage(b, "load.stages["+stage.Name+"].", e.Recorder.Stages[i], stage.StageFigures, broken)
	}
	boundResources(b, e, s)
	if all := staleCounted(e); all != nil && s.Load.StaleReads != nil && *s.Load.StaleReads < *all {
		b.AtLeast("load.staleReads", *s.Load.StaleReads, finding.Of(finding.LostReadersStale).String())
	}
}

func boundStage(b *figure.Bounds, prefix string, r wire.StageResult, f v1alpha1.StageFigures, contradicted string) {
	switch least, most := rate(r); {
	case least == nil:
	case most == nil:
		b.AtLeast(prefix+"requestsPerSecondMilli", *least, compare.Paused(f))
		b.AtLeast(prefix+"requestsPerSecond", *least/1000, compare.Paused(f))
	case *most > *least:
		b.Between(prefix+"requestsPerSecondMilli", *least, *most, compare.Paused(f))
		b.Between(prefix+"requestsPerSecond", *least/1000, (*most+999)/1000, compare.Paused(f))
	}
	if f.Timeouts != nil && (r.PausedRequests > 0 || r.Latency != nil && r.Latency.Unpaused != nil) {
		b.Unknown(prefix+"timeouts", compare.Paused(f))
	}
	if f.Latency != nil {
		boundLatency(b, prefix+"latency.", r, f, contradicted)
	}
}

func boundLatency(b *figure.Bounds, prefix string, r wire.StageResult, f v1alpha1.StageFigures, contradicted string) {
	boundMean(b, prefix, r, f, contradicted)
	for _, p := range Percentiles {
		value := figure.At(f.Latency, string(p.Name))
		if value == nil {
			continue
		}
		path := prefix + string(p.Name)
		var longer int64 // requests that came in a pause, and were measured too short
		moved := percentile.Moves(p.Percent, r.PausedRequests, r.Requests)
		if moved {
			longer = r.PausedRequests
		}
		least := unpaused(r, string(p.Name), *value, moved)
		because := why(p.Percent, f, moved || least < *value)
		switch {
		case contradicted != "":
			b.Unknown(path, contradicted)
		case lower(r.Latency, f, p.Name, p.Percent, longer):
			atLeast(b, path, least, because)
		default:
			b.Between(path, max(least, 0), most(f, p.Percent, longer), because)
		}
	}
}

// boundMean bounds the mean and the standard deviation, which leave out no request either.
func boundMean(b *figure.Bounds, prefix string, r wire.StageResult, f v1alpha1.StageFigures, contradicted string) {
	const mean = "meanMicroseconds"
	measured, open := f.Latency.MeanMicroseconds, lower(r.Latency, f, v1alpha1.Max, 100, r.PausedRequests)
	least := unpaused(r, mean, measured, true)
	because := why(100, f, least < measured)
	switch {
	case contradicted != "":
		b.Unknown(prefix+mean, contradicted)
	case f.Failures > 0 || open:
		atLeast(b, prefix+mean, least, because)
	default:
		b.Between(prefix+mean, least, measured, because)
	}
	if f.Latency.StandardDeviationMicroseconds != nil && (contradicted != "" || open || least < measured) {
		b.Unknown(prefix+"standardDeviationMicroseconds", cmp.Or(contradicted, because))
	}
}

// unpaused is a figure of the latency less the pauses of the recorder within each request, and the figure itself where they are less than 1% of it. A
// recorder of an older version did not take them apart: then those that moved are less by at most all pauses.
func unpaused(r wire.StageResult, name string, measured int64, moved bool) int64 {
	least := measured
	if r.Latency.Unpaused != nil {
		least = *figure.At(r.Latency.Unpaused, name)
	} else if moved {
		least -= r.PausedMicroseconds
	}
	if least*100 >= measured*99 {
		return measured
	}
	return least
}

// why a percentile is not exact, also by the recorder's pauses.
func why(percent int64, f v1alpha1.StageFigures, paused bool) string {
	because := whyLower(percent, f)
	if pauses := compare.Paused(f); paused && because != pauses {
		return because + "; " + pauses
	}
	return because
}

// atLeast bounds a latency from below, unless the recorder's pauses may be all of it.
func atLeast(b *figure.Bounds, path string, least int64, because string) {
	if least < 0 {
		b.Unknown(path, because)
		return
	}
	b.AtLeast(path, least, because)
}
