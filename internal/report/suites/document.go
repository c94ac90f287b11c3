package suites

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/suite"
)

// Document is a suite with the experiments of its trials that are left, in the order of status.runs.
type Document struct {
	Suite  *v1alpha1.ReplicationSuite       `json:"suite"`
	Trials []v1alpha1.ReplicationExperiment `json:"trials"`
}

// Values are the figures of the trials that count.
func (d *Document) Values() []suite.Value {
	trials := map[string]*v1alpha1.ReplicationExperiment{}
	for i := range d.Trials {
		trials[d.Trials[i].Name] = &d.Trials[i]
	}
	return suite.Values(d.Suite, trials)
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
		lines = append(lines, figures.PlainWords([]string{
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
