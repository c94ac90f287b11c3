package compare

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// Of states the differences of a run from its baseline, or why there are none.
func Of(now, base Run, name string) *v1alpha1.ComparisonStatus {
	c := &v1alpha1.ComparisonStatus{Baseline: name, Note: Refusal(now, base)}
	if c.Note != "" {
		return c
	}
	all := notes(now, base)
	all = append(all, stateThroughput(c, now, base), stateP99(c, now, base))
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
func stateThroughput(c *v1alpha1.ComparisonStatus, now, base Run) string {
	a, _ := throughput(now)
	b, _ := throughput(base)
	low, high, ok := Percent(a, b)
	if ok {
		c.RequestsPerSecondPercent = &low
		if high != low {
			c.RequestsPerSecondPercentAtMost = &high
		}
		return ""
	}
	for _, w := range both(now, base) {
		if f := w.run.Status.Load.StageFigures; ptr.Deref(f.PausedMilliseconds, 0) > 0 {
			return fmt.Sprintf("the throughput %s is not compared, since %s", w.who, Paused(f))
		}
	}
	return "the throughput is not compared: the difference is too large to be stated"
}

// stateP99 says why it states no difference, "" where it does, or there is none.
func stateP99(c *v1alpha1.ComparisonStatus, now, base Run) string {
	a, b := now.Status.Load.Latency, base.Status.Load.Latency
	if a == nil || b == nil {
		return ""
	}
	for _, w := range both(now, base) {
		if cause := Contradicted(w.run.Spec, w.run.Status.Load); cause != "" {
			return fmt.Sprintf("the p99 %s cannot be relied on, since %s", w.who, cause)
		}
		if cause := WhyLower(v1alpha1.P99, w.run.Status.Load.StageFigures); cause != "" {
			return fmt.Sprintf("the p99 %s is a lower bound, since %s", w.who, cause)
		}
	}
	if percent, _, ok := Percent(Exact(float64(a.P99Microseconds)), Exact(float64(b.P99Microseconds))); ok {
		c.P99Percent = &percent
	}
	return ""
}
