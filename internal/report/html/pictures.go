package html

import (
	"html/template"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/wire"
)

// percentile of a picture.
type percentile struct {
	name, field string
	colour      int
}

var latencyPercentiles = []percentile{
	{"p50", "latency.p50Microseconds", 2}, {"p95", "latency.p95Microseconds", 6}, {"p99", "latency.p99Microseconds", 3}, {"maximum", "latency.maxMicroseconds", 5},
}

var lagPercentiles = []percentile{{"p50", "p50Microseconds", 2}, {"p99", "p99Microseconds", 3}, {"maximum", "maxMicroseconds", 5}}

// PercentileKeys name the points of the pictures of distributions.
func (p *Page) PercentileKeys() (all []Key) {
	for _, one := range latencyPercentiles {
		all = append(all, Key{one.name, one.colour})
	}
	return all
}

// points are drawn where the figures are, or their bounds. One between two bounds that differ much has no place.
func points(d *figures.Document, path string, all []percentile) (found []chart.Point) {
	for _, p := range all {
		f := d.Figure(path + "." + p.field)
		if f.Value == nil {
			continue
		}
		point := chart.Point{Name: p.name + " " + f.Text(), Colour: p.colour, Value: float64(*f.Value)}
		switch {
		case f.Known(), f.Doubtful():
		case f.AtMost == nil:
			point.Open, point.Value = true, float64(*f.AtLeast)
		case f.AtLeast == nil:
			point.Below, point.Value = true, float64(*f.AtMost)
		default:
			continue
		}
		found = append(found, point)
	}
	return found
}

// latencyCharts are those of the stages, and of the operations in them.
func latencyCharts(d *figures.Document) ([]template.HTML, error) {
	stages := chart.Rows{Key: "stages", Title: "Latency of each stage", Unit: "µs", Log: true}
	operations := chart.Rows{Key: "operations", Title: "Latency of each operation, in the stages that count", Unit: "µs", Log: true}
	if d.Status.Load != nil {
		for _, s := range d.Status.Load.Stages {
			stages.Rows = append(stages.Rows, chart.Row{Name: s.Name, Points: points(d, "status.load.stages["+s.Name+"]", latencyPercentiles)})
		}
	}
	if d.Recorder != nil {
		for _, s := range d.Recorder.Stages {
			for _, o := range s.Operations {
				if !s.Discarded {
					operations.Rows = append(operations.Rows, chart.Row{Name: s.Name + ": " + o.Name, Points: points(d, "recorder.stages["+s.Name+"].operations["+o.Name+"]", latencyPercentiles)})
				}
			}
		}
	}
	var all []template.HTML
	for _, c := range []chart.Rows{stages, operations} {
		svg, err := c.SVG()
		if err != nil {
			return nil, err
		}
		if svg != "" {
			all = append(all, svg)
		}
	}
	return all, nil
}

// histogram of latencies or lags, "" of a document without one.
func histogram(key, title string, buckets []wire.Bucket) template.HTML {
	c := chart.Histogram{Key: key, Title: title, Unit: "µs"}
	for _, b := range buckets {
		from := figure.Exact("fromMicroseconds", b.FromMicroseconds).Text()
		to := figure.Exact("toMicroseconds", b.ToMicroseconds).Text()
		c.Bars = append(c.Bars, chart.Bar{From: float64(b.FromMicroseconds), To: float64(b.ToMicroseconds), Count: b.Count, Name: figure.Grouped(b.Count) + " from " + from + " to " + to})
	}
	return c.HTML()
}

// NoHistograms says why a page has none, "" where it may have some.
func (p *Page) NoHistograms() string {
	switch r := p.Recorder; {
	case r == nil:
		return "there are no results of the recorder"
	case r.Failed != "":
		return r.Failed
	default:
		return r.Incomplete
	}
}

// LatencyHistogram is of the requests that succeeded.
func (p *Page) LatencyHistogram() template.HTML {
	if p.NoHistograms() != "" {
		return ""
	}
	return histogram("latency-histogram", "Successful requests by their latency, in the stages that count", p.Recorder.Load.Histogram)
}

// LagHistogram is of the samples of the lag probe: each row on each node that showed it.
func (p *Page) LagHistogram() template.HTML {
	if p.NoHistograms() != "" || p.Recorder.Lag == nil {
		return ""
	}
	return histogram("lag-histogram", "Samples of the lag probe, each of a row on a node, by their lag", p.Recorder.Lag.Histogram)
}

func lagChart(d *figures.Document) (template.HTML, error) {
	c := chart.Rows{Key: "lags", Title: "Replication lag of each node", Unit: "µs", Log: true}
	for _, n := range d.Status.Nodes {
		if n.Lag != nil {
			c.Rows = append(c.Rows, chart.Row{Name: n.Name, Points: points(d, "status.nodes["+n.Name+"].lag", lagPercentiles)})
		}
	}
	return c.SVG()
}

// DurabilityWords say what a crash may take of acknowledged commits.
func (p *Page) DurabilityWords() string {
	return map[v1alpha1.Durability]string{
		v1alpha1.DurabilityFull: "flushed at each commit", v1alpha1.DurabilityRelaxed: "handed to the system at each commit", v1alpha1.DurabilityVolatile: "in the server's memory for up to a second",
	}[p.Spec.Topology.Durability]
}
