package suites

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/suite"
)

// Document is a suite with the experiments of its trials that are left, in the order of status.runs.
type Document struct {
	Suite  *v1alpha1.ReplicationSuite       `json:"suite"`
	Trials []v1alpha1.ReplicationExperiment `json:"trials"`
}

// outage is the metric whose values are shown one by one.
const outage v1alpha1.SuiteMetric = "outageMilliseconds"

// Values are the figures of the trials that count.
func (d *Document) Values() []suite.Value {
	trials := map[string]*v1alpha1.ReplicationExperiment{}
	for i := range d.Trials {
		trials[d.Trials[i].Name] = &d.Trials[i]
	}
	return suite.Values(d.Suite, trials)
}

// Tables of the suite, and all outages of its trials.
func (d *Document) Tables() []figures.Table {
	all := Tables(d.Suite)
	of := d.outages()
	if len(of.Rows) == 0 {
		return all
	}
	at := slices.IndexFunc(all, func(t figures.Table) bool { return t.Detail })
	if at < 0 {
		at = len(all)
	}
	return slices.Insert(all, at, of)
}

// outages has a row for each variant: a median hides the trial with the longest one.
func (d *Document) outages() figures.Table {
	t := figures.Table{Title: "Outages of all trials", Head: []string{"variant", "outages, the shortest first"}}
	all := d.Values()
	for _, v := range d.Suite.Spec.Variants {
		var found []suite.Value
		for _, value := range all {
			if value.Run.Variant == v.Name && value.Metric == outage {
				found = append(found, value)
			}
		}
		slices.SortStableFunc(found, func(a, b suite.Value) int { return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High)) })
		var texts []string
		for _, value := range found {
			texts = append(texts, inWords(value))
		}
		if len(texts) > 0 {
			t.Rows = append(t.Rows, words(v.Name, strings.Join(texts, ", ")))
		}
	}
	return t
}

// inWords is a trial's figure with its unit, or what bounds it.
func inWords(v suite.Value) string {
	low, high := v1alpha1.Decimal(number(v.Low)), v1alpha1.Decimal(number(v.High))
	in := inUnit(v.Metric)
	if v.Exact() {
		return in(low, math.Round)
	}
	return cmp.Or(between(low, high, in), "unknown")
}

// head of the CSV: a line for each figure of each trial. A figure that is not exact has no value, but the bounds that are known.
var head = []string{"suite", "variant", "round", "experiment", "verdict", "figure", "stage", "item", "value", "atLeast", "atMost"}

// WriteCSV writes the figures of the trials that count.
func (d *Document) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{head}
	for _, v := range d.Values() {
		value := ""
		if v.Exact() {
			value = number(v.Low)
		}
		lines = append(lines, plain.Cells([]string{
			d.Suite.Name, v.Run.Variant, fmt.Sprint(v.Run.Round), v.Run.Name, string(v.Run.Verdict), string(v.Metric), v.Stage, v.Item, value, number(v.Low), number(v.High),
		}))
	}
	return out.WriteAll(lines)
}

// number as text, "" of none.
func number(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
