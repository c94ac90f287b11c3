package compare

import (
	"strings"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
	"replab.dev/internal/verdict/finding"
)

// Of states the differences of a run from its baseline, or why there are none. It adds the bounds of those that are not exact.
func Of(now, base Run, name string, bounds *figure.Bounds) *v1alpha1.ComparisonStatus {
	c := &v1alpha1.ComparisonStatus{Baseline: name, Note: Refusal(now, base)}
	if c.Note != "" {
		return c
	}
	all := notes(now, base)
	all = append(all, stateThroughput(c, bounds, now, base), stateP99(c, now, base))
	for _, note := range all {
		if note != "" {
			c.Note += "; " + note
		}
	}
	c.Note = strings.TrimPrefix(c.Note, "; ")
	return c
}

// whose run it is.
type whose struct {
	who string
	run Run
}

func both(now, base Run) []whose { return []whose{{"here", now}, {"of the baseline", base}} }

// stateThroughput says why it states no difference, "" where it does.
func stateThroughput(c *v1alpha1.ComparisonStatus, bounds *figure.Bounds, now, base Run) string {
	a, _ := Throughput(&now.Status)
	b, _ := Throughput(&base.Status)
	low, high, ok := Percent(a, b)
	if ok {
		c.RequestsPerSecondPercent = &low
		bounds.Between("comparison.requestsPerSecondPercent", low, high, say(finding.RecorderNotAlways))
		return ""
	}
	for _, w := range both(now, base) {
		if f := figure.Read(&w.run.Status, throughput); !f.IsExact() {
			return say(finding.ThroughputNotExact, w.who, f.Because)
		}
	}
	return say(finding.DifferenceTooLarge)
}

// stateP99 says why it states no difference, "" where it does, or there is none.
func stateP99(c *v1alpha1.ComparisonStatus, now, base Run) string {
	a, b := now.Status.Load.Latency, base.Status.Load.Latency
	if a == nil || b == nil {
		return ""
	}
	for _, w := range both(now, base) {
		switch p99 := figure.Read(&w.run.Status, "load.latency.p99Microseconds"); {
		case p99.Doubtful():
			return say(finding.P99Doubtful, w.who, p99.Because)
		case p99.AtLeast == nil:
			return say(finding.P99Upper, w.who, p99.Because)
		case !p99.IsExact():
			return say(finding.P99Lower, w.who, p99.Because)
		}
	}
	if percent, _, ok := Percent(Exact(float64(a.P99Microseconds)), Exact(float64(b.P99Microseconds))); ok {
		c.P99Percent = &percent
	}
	return ""
}

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

// Paused says for how much of a time the recorder was paused.
func Paused(f v1alpha1.StageFigures) string {
	if f.PausedMilliseconds == nil { // it was paused after the planned end
		return say(finding.RecorderNotAlways)
	}
	return say(finding.RecorderDidNotRun, ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0))
}

// HeldUp says why counts of a time are not compared, "" where they are: all requests go through the recorder, and it was paused for more than
// a hundredth of the time.
func HeldUp(f v1alpha1.StageFigures) string {
	if percentile.LeavesOutLess(99, ptr.Deref(f.PausedMilliseconds, 0), ptr.Deref(f.DurationMilliseconds, 0)) {
		return Paused(f)
	}
	return ""
}
