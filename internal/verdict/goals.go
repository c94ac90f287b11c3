package verdict

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

func judgeGoals(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []v1alpha1.GoalStatus {
	var judged []v1alpha1.GoalStatus
	for _, g := range e.Spec.Goals {
		s := v1alpha1.GoalStatus{Metric: g.Metric, Limit: limit(g), Met: metav1.ConditionUnknown}
		m, ok := metrics[g.Metric]
		if ok && (m.among == nil || ptr.Deref(m.among(status), 0) != 0) {
			s.Measured = m.figure(status)
		}
		if s.Measured != nil {
			low, high := m.between(*s.Measured, e, status)
			if m.milli {
				s.MeasuredMilli, s.Measured = s.Measured, ptr.To(*s.Measured/1000)
			}
			s.Met = within(g, low, high, m.parts())
			if s.Met == metav1.ConditionFalse && m.path && len(pathRestarted(e, status)) > 0 {
				s.Met = metav1.ConditionUnknown
			}
		}
		judged = append(judged, s)
	}
	return judged
}

// within tells whether a figure that lies between two bounds meets a goal: Unknown when that depends on where it lies.
// The bounds are in so many parts of the limit's unit.
func within(g v1alpha1.Goal, low, high, parts int64) metav1.ConditionStatus {
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

// measured is a goal's figure in words.
func measured(g v1alpha1.GoalStatus) string {
	if g.MeasuredMilli != nil {
		return thousandths(*g.MeasuredMilli)
	}
	return fmt.Sprint(*g.Measured)
}

func thousandths(v int64) string { return fmt.Sprintf("%d.%03d", v/1000, v%1000) }

// between returns the bounds that the true figure lies between: the measured one, when that is exact.
func (m metric) between(measured int64, e Evidence, s *status) (low, high int64) {
	if m.bounds == nil {
		return measured, measured
	}
	return m.bounds(measured, e, s)
}

// whyUnknown says why a goal cannot be judged.
func whyUnknown(g v1alpha1.GoalStatus, e Evidence, s *status) string {
	m := metrics[g.Metric]
	if m.path && g.Measured != nil && len(pathRestarted(e, s)) > 0 {
		return fmt.Sprintf("an app or a proxy was not there for a part of the load, so the measured %s may be no doing of the databases", measured(g))
	}
	if m.why != nil {
		if why := m.why(g.Measured, e, s); why != "" {
			return why
		}
	}
	if g.Measured == nil {
		return "it was not measured"
	}
	if low, high := m.between(*g.Measured, e, s); low == *g.Measured && high < math.MaxInt64 {
		return fmt.Sprintf("it lies between %d and %d", low, high)
	}
	return fmt.Sprintf("the measured %d is a lower bound", *g.Measured)
}

func limit(g v1alpha1.Goal) string {
	var parts []string
	if g.Min != nil {
		parts = append(parts, fmt.Sprintf("min %d", *g.Min))
	}
	if g.Max != nil {
		parts = append(parts, fmt.Sprintf("max %d", *g.Max))
	}
	return strings.Join(parts, ", ")
}
