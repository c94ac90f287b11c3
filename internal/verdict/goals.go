package verdict

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

func judgeGoals(e evidence.Run, s *evidence.Status) []v1alpha1.GoalStatus {
	var judged []v1alpha1.GoalStatus
	for _, g := range e.Spec.Goals {
		goal := v1alpha1.GoalStatus{Metric: g.Metric, Limit: limit(g), Met: metav1.ConditionUnknown}
		if entry, f := goalFigure(g.Metric, s); f.Value != nil {
			goal.Measured = f.Value
			if entry.Scale > 1 {
				goal.MeasuredMilli, goal.Measured = ptr.To(*f.Value*1000/entry.Scale), ptr.To(*f.Value/entry.Scale)
			}
			goal.Met = within(g, f, max(1, entry.Scale))
		}
		if relative(g) {
			part, met, _ := againstBaseline(e, s, g)
			goal.BaselinePermille, goal.Met = part.Value, worse(goal.Met, met)
			if part.Value != nil && !part.IsExact() {
				(*figure.Bounds)(&s.Bounds).Between(part.Path, *part.AtLeast, *part.AtMost, part.Because)
			}
		}
		judged = append(judged, goal)
	}
	return judged
}

// goalFigure is what a goal limits; without a value where it is a part of nothing.
func goalFigure(metric v1alpha1.Metric, s *evidence.Status) (figure.Entry, figure.Figure) {
	entry, known := figure.Named(string(metric))
	if !known || entry.PartOf != "" && ptr.Deref(figure.At(s, entry.PartOf), 0) == 0 {
		return entry, figure.Figure{}
	}
	return entry, figure.Read(s, entry.Path)
}

// within tells whether a figure meets a goal: Unknown when that depends on where it lies between its bounds, which are in so many parts of the
// limit's unit.
func within(g v1alpha1.Goal, f figure.Figure, parts int64) metav1.ConditionStatus {
	low, high := f.Interval()
	above := func(v int64) bool { return g.Max != nil && (v/parts > *g.Max || v/parts == *g.Max && v%parts > 0) }
	below := func(v int64) bool { return g.Min != nil && v/parts < *g.Min }
	switch {
	case above(low), below(high):
		return metav1.ConditionFalse
	case above(high), below(low):
		return metav1.ConditionUnknown
	}
	return metav1.ConditionTrue
}

// relative tells whether a goal has a limit in percent of the baseline.
func relative(g v1alpha1.Goal) bool {
	return g.MinPercentOfBaseline != nil || g.MaxPercentOfBaseline != nil
}

// worse of two answers: a limit that was missed, or else one that is unknown.
func worse(a, b metav1.ConditionStatus) metav1.ConditionStatus {
	for _, answer := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		if a == answer || b == answer {
			return answer
		}
	}
	return metav1.ConditionTrue
}

// partOfBaseline is the figure that a goal's part of the baseline's value has.
func partOfBaseline(metric v1alpha1.Metric) string {
	return "goals[" + string(metric) + "].baselinePermille"
}

// againstBaseline is the part of the baseline's value in thousandths, and whether all that the bounds of both allow meets the goal. Else it says why
// that is unknown. The part has no value where its bounds say too little.
func againstBaseline(e evidence.Run, s *evidence.Status, g v1alpha1.Goal) (permille figure.Figure, met metav1.ConditionStatus, why finding.Finding) {
	now, base := evidence.Pair(e, s)
	if unlike := compare.Unlike(now, base); unlike != "" {
		return permille, metav1.ConditionUnknown, finding.Of(finding.GoalNotCompared, unlike)
	}
	_, a := goalFigure(g.Metric, s)
	_, b := goalFigure(g.Metric, &base.Status)
	part, ok := compare.Part(compare.IntervalOf(a), compare.IntervalOf(b))
	switch {
	case a.Value == nil && a.Because != "":
		return permille, metav1.ConditionUnknown, finding.Of(finding.NotMeasuredBecause, a.Because)
	case a.Value == nil || b.Value == nil || !ok:
		return permille, metav1.ConditionUnknown, finding.Of(finding.NothingToCompare)
	}
	permille = stated(g.Metric, a, b, part)
	least, most := math.Inf(-1), math.Inf(1)
	if p := g.MinPercentOfBaseline; p != nil {
		least = float64(*p)
	}
	if p := g.MaxPercentOfBaseline; p != nil {
		most = float64(*p)
	}
	switch {
	case part.High < least, part.Low > most:
		return permille, metav1.ConditionFalse, why
	case permille.Value == nil && (part.Low < least || part.High > most):
		return permille, metav1.ConditionUnknown, finding.Of(finding.PartOfBaselineWide, cmp.Or(a.Because, b.Because))
	case part.Low < least, part.High > most:
		return permille, metav1.ConditionUnknown, finding.Of(finding.PartOfBaselineOpen, permille.Percents(), permille.Because)
	}
	return permille, metav1.ConditionTrue, why
}

// stated is a part of a baseline's value in thousandths, as far as its bounds allow one.
func stated(metric v1alpha1.Metric, now, base figure.Figure, part compare.Interval) figure.Figure {
	f := figure.Figure{Path: partOfBaseline(metric)}
	if *base.Value == 0 || part.Wide() {
		return f
	}
	f.Value = ptr.To(int64(math.Round(float64(*now.Value) * 1000 / float64(*base.Value))))
	f.AtLeast, f.AtMost = f.Value, f.Value
	if !part.Exact() {
		f.AtLeast, f.AtMost = ptr.To(int64(math.Floor(part.Low*10))), ptr.To(int64(math.Ceil(part.High*10)))
		f.Because = cmp.Or(now.Because, base.Because)
	}
	return f
}

// goalFindings are the goals that were not met or could not be judged; where there is none of them, that all were met.
func goalFindings(e evidence.Run, s *evidence.Status) []finding.Finding {
	var found []finding.Finding
	for i, g := range s.Goals {
		switch g.Met {
		case metav1.ConditionUnknown:
			why := finding.Finding{}
			if asked := e.Spec.Goals[i]; relative(asked) {
				_, _, why = againstBaseline(e, s, asked)
			}
			if why.None() {
				why = whyUnknown(g, s)
			}
			found = append(found, finding.Of(finding.GoalUnknown, g.Metric, g.Limit, why))
		case metav1.ConditionFalse:
			found = append(found, finding.Of(finding.GoalMissed, g.Metric, g.Limit, missedBy(g, s)))
		}
	}
	switch {
	case len(found) > 0:
		return found
	case len(s.Goals) == 0:
		return []finding.Finding{finding.Of(finding.NoGoals)}
	case len(s.Goals) == 1:
		return []finding.Finding{finding.Of(finding.GoalMet)}
	}
	return []finding.Finding{finding.Of(finding.GoalsMet, len(s.Goals))}
}

// measured is a goal's figure in words.
func measured(g v1alpha1.GoalStatus, s *evidence.Status) string { return value(g) + ofBaseline(g, s) }

func value(g v1alpha1.GoalStatus) string {
	if g.MeasuredMilli != nil {
		return thousandths(*g.MeasuredMilli)
	}
	return fmt.Sprint(*g.Measured)
}

func ofBaseline(g v1alpha1.GoalStatus, s *evidence.Status) string {
	text := figure.Read(s, partOfBaseline(g.Metric)).Percents()
	if text == "" {
		return ""
	}
	return ", " + text + " of the baseline"
}

// missedBy is what was measured of a goal that was missed, with its bounds.
func missedBy(g v1alpha1.GoalStatus, s *evidence.Status) string {
	entry, f := goalFigure(g.Metric, s)
	text := value(g)
	switch {
	case f.AtLeast == nil && f.AtMost == nil || ptr.Equal(f.AtLeast, f.AtMost):
	case f.AtMost == nil:
		text = "at least " + inUnit(entry, *f.AtLeast)
	case f.AtLeast == nil:
		text = "at most " + inUnit(entry, *f.AtMost)
	default:
		text = inUnit(entry, *f.AtLeast) + " to " + inUnit(entry, *f.AtMost)
	}
	return text + ofBaseline(g, s)
}

// inUnit is a figure in the unit of its goal.
func inUnit(entry figure.Entry, v int64) string {
	if entry.Scale > 1 {
		return thousandths(v * 1000 / entry.Scale)
	}
	return fmt.Sprint(v)
}

func thousandths(v int64) string { return fmt.Sprintf("%d.%03d", v/1000, v%1000) }

// whyUnknown says why a goal cannot be judged.
func whyUnknown(g v1alpha1.GoalStatus, s *evidence.Status) finding.Finding {
	entry, f := goalFigure(g.Metric, s)
	switch {
	case f.Value == nil && f.Because != "":
		return finding.Of(finding.NotMeasuredBecause, f.Because)
	case f.Value == nil:
		return finding.Of(finding.NotMeasured)
	case f.Doubtful():
		return finding.Of(finding.MeasuredDoubtful, measured(g, s), f.Because)
	case f.AtMost == nil:
		return finding.Of(finding.MeasuredMinimum, measured(g, s), f.Because)
	case f.AtLeast == nil:
		return finding.Of(finding.MeasuredMaximum, measured(g, s), f.Because)
	}
	return finding.Of(finding.MeasuredBetween, inUnit(entry, *f.AtLeast), inUnit(entry, *f.AtMost), f.Because)
}

func limit(g v1alpha1.Goal) string {
	var parts []string
	if g.Min != nil {
		parts = append(parts, fmt.Sprintf("min %d", *g.Min))
	}
	if g.Max != nil {
		parts = append(parts, fmt.Sprintf("max %d", *g.Max))
	}
	if g.MinPercentOfBaseline != nil {
		parts = append(parts, fmt.Sprintf("min %d%% of the baseline", *g.MinPercentOfBaseline))
	}
	if g.MaxPercentOfBaseline != nil {
		parts = append(parts, fmt.Sprintf("max %d%% of the baseline", *g.MaxPercentOfBaseline))
	}
	return strings.Join(parts, ", ")
}
