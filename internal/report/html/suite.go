package html

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/suite"
)

// Suite is what the template of a suite's report shows.
type Suite struct {
	*v1alpha1.ReplicationSuite
	Counts   string
	Tables   []Table
	Forest   template.HTML
	Pictures []template.HTML // dots of the trials
}

// WriteSuite writes the report of a suite.
func WriteSuite(w io.Writer, d *suites.Document) error {
	page := Suite{ReplicationSuite: d.Suite, Counts: suites.Counts(d.Suite), Tables: d.Tables()}
	var err error
	if page.Forest, err = forest(suites.Compared(d.Suite)).SVG(); err != nil {
		return fmt.Errorf("report of suite %s: %w", d.Suite.Name, err)
	}
	for _, picture := range dots(d) {
		svg, err := picture.SVG()
		if err != nil {
			return fmt.Errorf("report of suite %s: %w", d.Suite.Name, err)
		}
		if svg != "" {
			page.Pictures = append(page.Pictures, svg)
		}
	}
	return templates.ExecuteTemplate(w, "suite.gohtml", page)
}

// Colours of conclusions and dots.
const (
	decided   = 6
	undecided = 3
)

// forest has the ratio of each comparison with its interval. On the line at 100% both variants are equal.
func forest(all []v1alpha1.SuiteComparisonStatus) chart.Rows {
	equal := 100.0
	c := chart.Rows{Key: "forest", Title: "Ratios in percent, with their 95% intervals", Loose: true, At: &equal}
	for _, of := range all {
		row := chart.Row{Name: strings.TrimSpace(of.Of + "/" + of.To + " " + suites.Title(of.Metric) + " " + suites.Scope(of.Stage, of.Item))}
		ratio, exact := decimal(of.RatioPercent)
		if exact {
			colour := decided
			if of.Conclusion == v1alpha1.ConclusionUndecided {
				colour = undecided
			}
			row.Points = []chart.Point{{Name: fmt.Sprintf("%s: %s%%, %s", row.Name, of.RatioPercent, of.Conclusion), Colour: colour, Value: ratio}}
		}
		low, hasLow := decimal(of.Low)
		high, hasHigh := decimal(of.High)
		if hasLow || hasHigh {
			r := chart.Range{From: math.Inf(-1), To: math.Inf(1)}
			if hasLow {
				r.From = low
			}
			if hasHigh {
				r.To = high
			}
			row.Range = &r
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func decimal(d v1alpha1.Decimal) (float64, bool) {
	v, err := strconv.ParseFloat(string(d), 64)
	return v, err == nil
}

// dots has a picture for each figure and stage, with a row for each variant and a dot for each trial. A stage that shows what the whole load shows
// has none.
func dots(d *suites.Document) []chart.Rows {
	var all []chart.Rows
	stages := map[string]string{} // keys of the whole load's pictures, by those of stages
	for _, v := range d.Values() {
		scale, unit := scaleOf(v.Metric)
		scope := suites.Scope(v.Stage, v.Item)
		key := keyOf(v.Metric, scope)
		if v.Stage != "" {
			stages[key] = keyOf(v.Metric, suites.Scope("", v.Item))
		}
		i := slices.IndexFunc(all, func(c chart.Rows) bool { return c.Key == key })
		if i < 0 {
			i = len(all)
			title := suites.Title(v.Metric)
			if scope != "" {
				title += " of " + scope
			}
			all = append(all, chart.Rows{Key: key, Title: title, Unit: unit, Loose: true})
		}
		all[i].Rows = withDot(all[i].Rows, v, scale)
	}
	rows := map[string][]chart.Row{}
	for _, c := range all {
		rows[c.Key] = c.Rows
	}
	return slices.DeleteFunc(all, func(c chart.Rows) bool {
		whole, ofStage := stages[c.Key]
		return ofStage && reflect.DeepEqual(rows[whole], c.Rows)
	})
}

// keyOf a picture.
func keyOf(metric v1alpha1.SuiteMetric, scope string) string {
	return strings.TrimSuffix(string(metric)+"-"+scope, "-")
}

func withDot(rows []chart.Row, v suite.Value, scale float64) []chart.Row {
	if len(rows) == 0 || rows[len(rows)-1].Name != v.Run.Variant {
		rows = append(rows, chart.Row{Name: v.Run.Variant})
	}
	point := chart.Point{Name: v.Run.Name, Colour: decided, Value: v.Low * scale}
	switch {
	case v.Exact():
	case !math.IsInf(v.Low, 0) && !math.IsInf(v.High, 0):
		point.Range = &chart.Range{From: v.Low * scale, To: v.High * scale}
		point.Value = (point.Range.From + point.Range.To) / 2
	case !math.IsInf(v.Low, 0):
		point.Open = true
	case !math.IsInf(v.High, 0):
		point.Below, point.Value = true, v.High*scale
	default:
		return rows
	}
	last := &rows[len(rows)-1]
	last.Points = append(last.Points, point)
	return rows
}

// scaleOf is the factor and the unit of a metric in pictures.
func scaleOf(m v1alpha1.SuiteMetric) (scale float64, unit string) {
	switch {
	case strings.HasSuffix(string(m), "Microseconds"):
		return 1, "µs"
	case strings.HasSuffix(string(m), "Milliseconds"):
		return 1000, "µs"
	}
	return 1, ""
}
