// Package suites says what came of a suite: its tables, and their text. It is pure.
package suites

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/suite"
)

// Comparisons is the section of the comparisons' table.
const Comparisons = "Comparisons"

// interval heads the columns of intervals.
const interval = "95% interval"

// Tables of a suite, those first that decide. A table without rows is left out.
func Tables(s *v1alpha1.ReplicationSuite) (all []figures.Table) {
	for _, table := range []func(*v1alpha1.ReplicationSuite) figures.Table{expectations, comparisons, losses, medians, published, trials} {
		if t := table(s); len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

func words(all ...string) (cells []figures.Cell) {
	for _, w := range all {
		cells = append(cells, figures.Words(w))
	}
	return cells
}

var met = map[metav1.ConditionStatus]string{metav1.ConditionTrue: "yes", metav1.ConditionFalse: "no", metav1.ConditionUnknown: "unknown"}

func expectations(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Expectations", Head: []string{"expectation", "met", "found"}}
	for _, e := range s.Status.Expectations {
		t.Rows = append(t.Rows, words(e.Expectation, met[e.Met], e.Found))
	}
	return t
}

func comparisons(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Comparisons, round by round", Section: Comparisons, Head: []string{"comparison", "figure", "part", "ratio", interval, "rounds", "p", "conclusion"}}
	for _, c := range Compared(s) {
		t.Rows = append(t.Rows, words(c.Of+"/"+c.To, Title(c.Metric), Scope(c.Stage, c.Item), percent(c.RatioPercent, math.Round), between(c.Low, c.High, percent),
			rounds(c), string(c.P), string(c.Conclusion)))
	}
	return t
}

// roundsMost is the largest estimate of rounds that is told as a number.
const roundsMost = 1000

// rounds of a comparison, and how many would decide it.
func rounds(c v1alpha1.SuiteComparisonStatus) string {
	switch {
	case c.RoundsNeeded == 0:
		return fmt.Sprint(c.N)
	case c.RoundsNeeded > roundsMost:
		return fmt.Sprintf("%d (over %d needed)", c.N, roundsMost)
	}
	return fmt.Sprintf("%d (about %d needed)", c.N, c.RoundsNeeded)
}

// Compared are the comparisons to show: without those of a stage that was not measured, or that says what the comparison of the whole load says.
func Compared(s *v1alpha1.ReplicationSuite) (all []v1alpha1.SuiteComparisonStatus) {
	seen := once{}
	for _, c := range s.Status.Comparisons {
		if c.Stage != "" && c.N == 0 { // a stage at rest has none of the figures of loads
			continue
		}
		if seen.more(c.Of+"/"+c.To+string(c.Metric)+c.Item, c.Stage, []string{string(c.RatioPercent), string(c.Low), string(c.High), string(c.Conclusion)}) {
			all = append(all, c)
		}
	}
	return all
}

// once has what was found over the whole load. The only stage that counts says the same.
type once map[string][]string

// more tells whether a stage says more than the whole load, which comes before its stages.
func (o once) more(of, stage string, found []string) bool {
	if stage == "" {
		o[of] = found
		return true
	}
	return !slices.Equal(o[of], found)
}

// writer writes a number, rounded as given, so that a bound stays one.
type writer func(d v1alpha1.Decimal, round func(float64) float64) string

// percent shows the three digits that count.
func percent(d v1alpha1.Decimal, round func(float64) float64) string {
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return ""
	}
	unit := math.Pow10(int(math.Floor(math.Log10(max(v, 0.001)))) - 2)
	return strconv.FormatFloat(round(resolved(v/unit))*unit, 'g', 6, 64) + "%"
}

// losses has no upper bound of a variant without faults: such trials are no evidence that writes survive them.
func losses(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Trials that lost acknowledged writes", Head: []string{"variant", "trials with a loss", "trials", "faults", "upper bound (95%)"}}
	for _, v := range s.Status.Variants {
		if l := v.Losses; l != nil {
			lostIn := fmt.Sprint(l.LostIn)
			if l.LostInAtMost > l.LostIn {
				lostIn += fmt.Sprintf(" to %d", l.LostInAtMost)
			}
			hit, bound := faults(&s.Spec, v.Name), ""
			if hit != "" && hit != "0" {
				bound = fmt.Sprintf("%d%%", l.UpperPercent)
			}
			t.Rows = append(t.Rows, words(v.Name, lostIn, fmt.Sprint(l.Of), hit, bound))
		}
	}
	return t
}

// faults is the number of faults in each trial of a variant, "" where its spec cannot be read.
func faults(s *v1alpha1.ReplicationSuiteSpec, variant string) string {
	if d := s.DrawFaults; d != nil {
		return fmt.Sprintf("drawn, %d times", d.Count)
	}
	spec, err := suite.Spec(s, variant)
	if err != nil {
		return ""
	}
	all, _ := spec["faults"].([]any)
	return fmt.Sprint(len(all))
}

// medians has a row for each figure and stage, and a column for each variant.
func medians(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Medians of the trials, with their " + interval, Head: []string{"figure", "part"}}
	type key struct {
		name        v1alpha1.SuiteMetric
		stage, item string
	}
	var keys []key
	for _, v := range s.Status.Variants {
		t.Head = append(t.Head, v.Name)
		for _, f := range v.Figures {
			if k := (key{f.Name, f.Stage, f.Item}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	seen := once{}
	for _, k := range keys {
		var found []string
		for _, v := range s.Status.Variants {
			found = append(found, median(v.Figures, k.name, k.stage, k.item))
		}
		if seen.more(string(k.name)+k.item, k.stage, found) {
			t.Rows = append(t.Rows, words(append([]string{Title(k.name), Scope(k.stage, k.item)}, found...)...))
		}
	}
	return t
}

// Scope of a figure: a stage, an item of a list, or the item in the stage. It is "" for the whole load.
func Scope(stage, item string) string {
	switch {
	case item == "":
		return stage
	case stage == "":
		return item
	}
	return item + " in " + stage
}

// median of a figure in words, "" where no trial has it.
func median(all []v1alpha1.TrialsFigure, name v1alpha1.SuiteMetric, stage, item string) string {
	i := slices.IndexFunc(all, func(f v1alpha1.TrialsFigure) bool { return f.Name == name && f.Stage == stage && f.Item == item })
	if i < 0 {
		return ""
	}
	f := all[i]
	in := inUnit(name)
	text := in(f.Median, math.Round)
	if f.Median == "" {
		text = cmp.Or(between(f.MedianAtLeast, f.MedianAtMost, in), "unknown")
	}
	if span := between(f.Low, f.High, in); span != "" {
		return fmt.Sprintf("%s (%s, n %d)", text, span, f.N)
	}
	return fmt.Sprintf("%s (n %d)", text, f.N)
}

// between two bounds in words, of which one or both may be absent. Hardly a figure and no ratio is below 0: that alone says nothing.
func between(low, high v1alpha1.Decimal, in writer) string {
	switch {
	case high == "" && (low == "" || low == "0"):
		return ""
	case low == "":
		return "at most " + in(high, math.Ceil)
	case high == "":
		return "at least " + in(low, math.Floor)
	}
	return in(low, math.Floor) + " to " + in(high, math.Ceil)
}

func published(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Published figures beside the measured ones", Head: []string{"variant", "figure", "part", "published", "measured", "source"}}
	for _, r := range s.Spec.Reference {
		measured := "not measured"
		if i := slices.IndexFunc(s.Status.Variants, func(v v1alpha1.VariantStatus) bool { return v.Name == r.Variant }); i >= 0 {
			if m := median(s.Status.Variants[i].Figures, r.Metric, r.Stage, r.Item); m != "" {
				measured = m
			}
		}
		t.Rows = append(t.Rows, words(r.Variant, Title(r.Metric), Scope(r.Stage, r.Item), inUnit(r.Metric)(r.Value, math.Round), measured, r.Source))
	}
	return t
}

func trials(s *v1alpha1.ReplicationSuite) figures.Table {
	t := figures.Table{Title: "Trials", Detail: true, Head: []string{"experiment", "variant", "round", "attempt", "verdict", "seconds", "reason"}}
	for _, r := range s.Status.Runs {
		seconds := ""
		if r.StartTime != nil && r.CompletionTime != nil {
			seconds = fmt.Sprint(int64(r.CompletionTime.Sub(r.StartTime.Time).Seconds()))
		}
		t.Rows = append(t.Rows, words(r.Name, r.Variant, fmt.Sprint(r.Round), fmt.Sprint(r.Attempt), string(r.Verdict), seconds, r.Reason))
	}
	return t
}

// Title of a metric, its name where nobody knows it.
func Title(m v1alpha1.SuiteMetric) string {
	if e, known := figure.Named(string(m)); known {
		return e.Title
	}
	return string(m)
}

// inUnit writes numbers of a metric as the figures of a run are written, or as they are where the metric is unknown.
func inUnit(m v1alpha1.SuiteMetric) writer {
	e, known := figure.Named(string(m))
	return func(d v1alpha1.Decimal, round func(float64) float64) string {
		v, err := strconv.ParseFloat(string(d), 64)
		if !known || err != nil {
			return string(d)
		}
		return figure.Decimal(e.Path, resolved(v*float64(max(1, e.Scale))), round)
	}
}

// resolved removes the error of a product of decimals, whose resolution is a thousandth.
func resolved(v float64) float64 { return math.Round(v*1000) / 1000 }
