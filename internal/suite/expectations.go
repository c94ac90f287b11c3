package suite

import (
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
)

// judge writes the expectations into the status.
func (r results) judge() {
	r.suite.Status.Expectations = nil
	for _, e := range r.suite.Spec.Expectations {
		found := v1alpha1.ExpectationStatus{Expectation: sentence(e)}
		if e.Variant != "" {
			found.Met, found.Found = r.judgeTrials(e)
		} else {
			found.Met, found.Found = r.judgeComparison(e)
		}
		r.suite.Status.Expectations = append(r.suite.Status.Expectations, found)
	}
}

// sentence is an expectation in words.
func sentence(e v1alpha1.Expectation) string {
	if e.Comparison != "" {
		return fmt.Sprintf("%s %s%s", e.Comparison, label(e.Metric, e.Stage, e.Item), limits(e.MinPercent, e.MaxPercent, "%"))
	}
	trials := "in every trial"
	if e.InAtLeastTrials != nil {
		trials = fmt.Sprintf("in at least %d trials", *e.InAtLeastTrials)
	}
	return fmt.Sprintf("%s %s%s %s", e.Variant, label(e.Metric, e.Stage, e.Item), limits(e.Min, e.Max, ""), trials)
}

func limits(least, most *int64, unit string) (text string) {
	if least != nil {
		text += fmt.Sprintf(" min %d%s", *least, unit)
	}
	if most != nil {
		text += fmt.Sprintf(" max %d%s", *most, unit)
	}
	return text
}

// within tells whether a figure meets limits: Unknown when that depends on where it lies between its bounds.
func within(v compare.Interval, least, most *int64) metav1.ConditionStatus {
	low, high := math.Inf(-1), math.Inf(1)
	if least != nil {
		low = float64(*least)
	}
	if most != nil {
		high = float64(*most)
	}
	switch {
	case v.Low > high, v.High < low:
		return metav1.ConditionFalse
	case v.High > high, v.Low < low:
		return metav1.ConditionUnknown
	}
	return metav1.ConditionTrue
}

// judgeTrials of a variant. Trials that have not run, or did not measure it, may have met the expectation or not.
func (r results) judgeTrials(e v1alpha1.Expectation) (metav1.ConditionStatus, string) {
	var met, missed int32
	for _, answer := range r.answers(e) {
		switch answer {
		case metav1.ConditionTrue:
			met++
		case metav1.ConditionFalse:
			missed++
		}
	}
	need := ptr.Deref(e.InAtLeastTrials, r.suite.Spec.Trials)
	found := fmt.Sprintf("met in %d trials, not met in %d, of %d", met, missed, r.suite.Spec.Trials)
	switch {
	case met >= need:
		return metav1.ConditionTrue, found
	case r.suite.Spec.Trials-missed < need:
		return metav1.ConditionFalse, found
	}
	return metav1.ConditionUnknown, found
}

// answers of the rounds whether they meet an expectation. No repetition hides that an Inconclusive run exceeds a maximum, or may: its evidence is
// a minimum.
func (r results) answers(e v1alpha1.Expectation) map[int32]metav1.ConditionStatus {
	entry, _ := figure.Named(string(e.Metric)) // the rules refuse others
	m := metric{entry, e.Stage, e.Item}
	rounds := map[int32]metav1.ConditionStatus{}
	for _, run := range r.suite.Status.Runs {
		x, before := r.experiments[run.Name], rounds[run.Round]
		if run.Variant != e.Variant || x == nil || before == metav1.ConditionFalse {
			continue
		}
		value, ok := r.evidence(m, run, x)
		if !ok {
			continue
		}
		answer := within(value, e.Min, e.Max)
		if before != metav1.ConditionUnknown || e.Max == nil || answer == metav1.ConditionFalse {
			rounds[run.Round] = answer
		}
	}
	return rounds
}

// evidence is the figure of a run. An Inconclusive run gives only a minimum of lost writes if it may have lost some, and none if it was edited: then
// it has no hash.
func (r results) evidence(m metric, run v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) (compare.Interval, bool) {
	value, ok := m.of(x)
	switch {
	case !ok || compare.Reliable(run.Verdict):
		return value, ok
	case run.Verdict != v1alpha1.VerdictInconclusive || m.Name != lostWrites || value.High <= 0:
		return compare.Interval{}, false
	}
	return compare.AtLeast(value.Low), run.SpecHash != ""
}

// judgeComparison by the whole interval. With trials to come it is Unknown: the interval is not final.
func (r results) judgeComparison(e v1alpha1.Expectation) (metav1.ConditionStatus, string) {
	for _, c := range r.suite.Spec.Comparisons {
		if c.Of+"/"+c.To != e.Comparison {
			continue
		}
		for _, found := range r.comparison(c) {
			if found.Metric != e.Metric || found.Stage != e.Stage || found.Item != e.Item {
				continue
			}
			if found.percent == nil {
				return metav1.ConditionUnknown, fmt.Sprintf("%d rounds, and an interval needs %d", found.N, v1alpha1.RoundsFewest)
			}
			said := fmt.Sprintf("%s to %s%% in %d rounds", unbounded(found.Low), unbounded(found.High), found.N)
			if r.suite.Status.Trials.Done < r.suite.Status.Trials.Total {
				return metav1.ConditionUnknown, said
			}
			return within(*found.percent, e.MinPercent, e.MaxPercent), said
		}
	}
	return metav1.ConditionUnknown, "no round measured it"
}

func unbounded(d v1alpha1.Decimal) string {
	if d == "" {
		return "(no bound)"
	}
	return string(d)
}
