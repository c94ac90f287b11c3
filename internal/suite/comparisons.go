package suite

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
)

// compared is a comparison with its interval, which is not rounded.
type compared struct {
	v1alpha1.SuiteComparisonStatus
	percent *compare.Interval
}

// mostComparisons is how many the status holds.
const mostComparisons = 512

// compareAll writes the comparisons into the status, with notes about those that a reader may misunderstand.
func (r results) compareAll() {
	s := &r.suite.Status
	s.Comparisons = nil
	for _, c := range r.suite.Spec.Comparisons {
		if fields := r.unlike(c); len(fields) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s and %s also differ in spec.%s.", c.Of, c.To, strings.Join(fields, " and spec.")))
		}
		if r.otherStages(c) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s and %s have different stages: their whole loads are not compared.", c.Of, c.To))
		}
		for _, found := range r.comparison(c) {
			s.Comparisons = append(s.Comparisons, found.SuiteComparisonStatus)
		}
	}
	if len(s.Comparisons) > mostComparisons {
		s.Comparisons = s.Comparisons[:mostComparisons]
		s.Notes = append(s.Notes, fmt.Sprintf("The status holds %d comparisons: name fewer metrics.", mostComparisons))
	}
	if len(s.Comparisons) > 0 && r.suite.Spec.Order == v1alpha1.OrderSequential {
		s.Notes = append(s.Notes, "The variants ran one after the other: comparisons include any drift of the machine.")
	}
}

// comparison has the metrics of a comparison, of all that both variants have figures of.
func (r results) comparison(c v1alpha1.SuiteComparison) (all []compared) {
	of, to := r.counted(c.Of), r.counted(c.To)
	differ := r.otherStages(c)
	for _, name := range c.Metrics {
		e, _ := figure.Named(string(name)) // the rules refuse others
		others := everywhere(e, inOrder(to))
		for _, m := range everywhere(e, inOrder(of)) {
			ofAll := differ && m.stage == "" && (e.InStages || e.Rate) // figures of other loads
			if !ofAll && slices.ContainsFunc(others, func(o metric) bool { return o.stage == m.stage && o.item == m.item }) {
				all = append(all, ratio(c, m, of, to))
			}
		}
	}
	return all
}

// ratio compares a metric round by round.
func ratio(c v1alpha1.SuiteComparison, m metric, of, to map[int32]*v1alpha1.ReplicationExperiment) compared {
	found := compared{SuiteComparisonStatus: v1alpha1.SuiteComparisonStatus{
		Of: c.Of, To: c.To, Metric: v1alpha1.SuiteMetric(m.Name), Stage: m.stage, Item: m.item, Conclusion: v1alpha1.ConclusionUndecided,
	}}
	var now, base []compare.Interval
	for _, round := range slices.Sorted(maps.Keys(of)) {
		if to[round] == nil {
			continue
		}
		a, here := m.of(of[round])
		b, there := m.of(to[round])
		if here && there {
			now, base = append(now, a), append(base, b)
		}
	}
	rounds, ok := compare.CompareRounds(now, base)
	if !ok {
		return found
	}
	found.N, found.Conclusion, found.RoundsNeeded = int32(rounds.Rounds), rounds.Conclusion, int32(rounds.RoundsNeeded)
	found.P = decimal(rounds.P)
	if rounds.RatioPercent.Exact() {
		found.RatioPercent = decimal(rounds.RatioPercent.Low)
	}
	if found.percent = rounds.RangePercent; found.percent != nil {
		found.Low, found.High = atLeast(found.percent.Low), atMost(found.percent.High)
	}
	return found
}

// otherStages tells whether the stages that count are not those of the other variant.
func (r results) otherStages(c v1alpha1.SuiteComparison) bool {
	of, to := inOrder(r.counted(c.Of)), inOrder(r.counted(c.To))
	return len(of) > 0 && len(to) > 0 && !equality.Semantic.DeepEqual(counting(of[0]), counting(to[0]))
}

func counting(x *v1alpha1.ReplicationExperiment) []v1alpha1.Stage {
	return slices.DeleteFunc(slices.Clone(x.Spec.Load.Stages), func(s v1alpha1.Stage) bool { return s.Discard })
}

// unlike are fields beside the topology in which two variants differ.
func (r results) unlike(c v1alpha1.SuiteComparison) (fields []string) {
	of, err := Spec(&r.suite.Spec, c.Of)
	to, other := Spec(&r.suite.Spec, c.To)
	if err != nil || other != nil {
		return nil // refused before the first trial
	}
	for _, field := range compare.Same {
		if !reflect.DeepEqual(of[field], to[field]) {
			fields = append(fields, field)
		}
	}
	return fields
}

// label is a metric with its item and its stage, for people.
func label(m v1alpha1.SuiteMetric, stage, item string) string {
	text := string(m)
	if item != "" {
		text += " of " + item
	}
	if stage != "" {
		text += " of stage " + stage
	}
	return text
}
