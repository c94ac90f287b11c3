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

// latencyStatus adds to the recorder's marks what the recorder cannot know: that requests were not sent, each of which would
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
	s.LowerBounds = []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max}
	return s
}

// stateRate writes the throughput with its bounds: without the recorder's pauses, in which nothing was answered, it would have been more.
func stateRate(f *v1alpha1.StageFigures, r wire.StageResult) {
	milli := func(microseconds int64) int64 {
		return int64(math.Round(float64(r.Succeeded) * 1e9 / float64(microseconds)))
	}
	rate := milli(r.DurationMicroseconds)
	f.RequestsPerSecondMilli, f.RequestsPerSecond = &rate, ptr.To((rate+500)/1000)
	if ran := r.DurationMicroseconds - r.PausedMicroseconds; ran > 0 {
		f.RequestsPerSecondMilliAtMost = ptr.To(max(rate, milli(ran)))
	}
	if f.RequestsPerSecondMilliAtMost == nil || *f.RequestsPerSecondMilliAtMost > rate {
		f.RequestsPerSecond = ptr.To(rate / 1000)
	}
}

// rateText is the throughput as people read it, with its bounds rounded outwards.
func rateText(f v1alpha1.StageFigures) string {
	low, most := f.RequestsPerSecondMilli, f.RequestsPerSecondMilliAtMost
	switch {
	case low == nil:
		return ""
	case most == nil:
		return fmt.Sprintf("≥%d", *low/1000)
	case (*low+500)/1000 == (*most+500)/1000:
		return fmt.Sprint((*low + 500) / 1000)
	}
	return fmt.Sprintf("%d-%d", *low/1000, (*most+999)/1000)
}

// stoodStill tells of times in which the recorder itself did not run, where a percentile may hide them.
func stoodStill(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if status.Load == nil {
		return nil
	}
	var found []string
	hidden := func(r wire.StageResult) bool {
		return percentile.LeavesOutLess(99, r.PausedRequests, r.Requests) || percentile.LeavesOutLess(99, r.PausedMicroseconds, r.DurationMicroseconds)
	}
	if r := e.Recorder.Load; hidden(r) {
		found = append(found, fmt.Sprintf("The recorder itself did not run for %d of %d ms, in which about %d of %d requests came: percentiles of the latency and of the lag that leave out less are lower bounds.",
			milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000, r.PausedRequests, r.Requests))
	}
	for _, r := range e.Recorder.Stages {
		if !r.Discarded && hidden(r) {
			found = append(found, fmt.Sprintf("In stage %s the recorder itself did not run for %d of %d ms.", r.Name, milliseconds(r.PausedMicroseconds), r.DurationMicroseconds/1000))
		}
	}
	return found
}
