package verdict

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// comparison states the differences from the baseline, when they are due to what is under test alone.
func comparison(e Evidence, s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.ComparisonStatus {
	if e.Spec.Baseline == nil {
		return nil
	}
	c := &v1alpha1.ComparisonStatus{Baseline: e.Spec.Baseline.Name, Note: incomparable(e, s)}
	if c.Note != "" {
		return c
	}
	now, before := s.Load, e.Baseline.Status.Load
	c.Note = "one run each: an anecdote, without an interval"
	c.RequestsPerSecondPercent = percent(now.RequestsPerSecond, before.RequestsPerSecond)
	if now.Latency == nil || before.Latency == nil {
		return c
	}
	for _, l := range []struct {
		whose string
		load  *v1alpha1.LoadStatus
	}{{"here", now}, {"of the baseline", before}} {
		if cause := contradicted(e.Spec, l.load); cause != "" { // stages are the same in both
			c.Note += fmt.Sprintf("; the p99 %s cannot be relied on, since %s", l.whose, cause)
			return c
		}
		if cause := whyLower(v1alpha1.P99, l.load.StageFigures); cause != "" {
			c.Note += fmt.Sprintf("; the p99 %s is a lower bound, since %s", l.whose, cause)
			return c
		}
	}
	c.P99Percent = percent(&now.Latency.P99Microseconds, &before.Latency.P99Microseconds)
	return c
}

// incomparable says why a comparison would mean nothing, "" when it may be made.
func incomparable(e Evidence, s *v1alpha1.ReplicationExperimentStatus) string {
	if e.Baseline == nil || e.Baseline.Status.Load == nil || e.Baseline.Status.Load.RequestsPerSecond == nil {
		return "the baseline has no figures: run it first, in this namespace"
	}
	if v := e.Baseline.Status.Verdict; v != v1alpha1.VerdictPassed && v != v1alpha1.VerdictFailed {
		return "the baseline's verdict is " + string(v) + ": its figures cannot be relied on"
	}
	if fields := differing(e.Spec, e.Baseline.Spec); len(fields) > 0 {
		return "the baseline was measured otherwise: spec." + strings.Join(fields, " and spec.") + " must be the same in both"
	}
	if s.Load == nil || s.Load.RequestsPerSecond == nil {
		return "this experiment has no figures of its load"
	}
	return ""
}

// differing names the fields of two specs that would show in the figures without being what is compared.
func differing(a, b v1alpha1.ReplicationExperimentSpec) []string {
	var names []string
	for _, field := range []struct {
		name string
		a, b any
	}{
		{"load.stages", a.Load.Stages, b.Load.Stages},
		{"load.mix", a.Load.Mix, b.Load.Mix},
		{"load.script", a.Load.Script, b.Load.Script},
		{"load.parallelism", a.Load.Parallelism, b.Load.Parallelism},
		{"load.image", a.Load.Image, b.Load.Image},
		{"dataset", a.Dataset, b.Dataset},
		{"app", a.App, b.App},
		{"probes", a.Probes, b.Probes},
	} {
		if !equality.Semantic.DeepEqual(field.a, field.b) {
			names = append(names, field.name)
		}
	}
	return names
}

// percent by which now differs from before.
func percent(now, before *int64) *int64 {
	if now == nil || before == nil || *before == 0 {
		return nil
	}
	return ptr.To(int64(math.Round(float64(*now-*before) * 100 / float64(*before))))
}

// notCompared says among the reasons too why a comparison that was asked for is not there.
func notCompared(_ Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	c := status.Comparison
	if c == nil || c.RequestsPerSecondPercent != nil {
		return nil
	}
	return []string{fmt.Sprintf("Not compared with %s: %s.", c.Baseline, c.Note)}
}
