package html

import (
	"html/template"
	"io"
	"strings"

	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/comparison"
)

// Comparison is what the template of a comparison shows.
type Comparison struct {
	*comparison.Comparison
	Title    string
	Keys     []Key
	Pictures []template.HTML
}

// WriteComparison writes the report on several runs.
func WriteComparison(w io.Writer, c *comparison.Comparison) error {
	var names []string
	for _, r := range c.Runs {
		names = append(names, r.Name)
	}
	page := Comparison{Comparison: c, Title: strings.Join(names, " and "), Keys: (&Page{}).PercentileKeys()}
	latency := chart.Rows{Key: "latency", Title: "Latency of the load", Unit: "µs", Log: true}
	lag := chart.Rows{Key: "lag", Title: "Replication lag", Unit: "µs", Log: true}
	for _, r := range c.Runs {
		latency.Rows = append(latency.Rows, chart.Row{Name: r.Name, Points: points(r.Document, "status.load", latencyPercentiles)})
		lag.Rows = append(lag.Rows, chart.Row{Name: r.Name, Points: points(r.Document, "status.replication.lag", lagPercentiles)})
	}
	for _, p := range []chart.Rows{latency, lag} {
		svg, err := p.SVG()
		if err != nil {
			return err
		}
		if svg != "" {
			page.Pictures = append(page.Pictures, svg)
		}
	}
	return templates.ExecuteTemplate(w, "compare.gohtml", page)
}
