package html

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/wire"
)

// figuresOf are the figures of one picture.
type figuresOf struct {
	key, title, unit string
	log              bool
	height           int
	values           []Values
	lines            func(int) chart.Series
}

func coloured(first int) func(int) chart.Series {
	return func(i int) chart.Series { return chart.Series{Colour: (first+i-1)%8 + 1} }
}

const failureColour = 9

func series(d *figures.Document) []figuresOf {
	of := func(name, unit, bound string, get func(wire.Second) *int64) Values {
		v := Values{Name: name, Unit: unit, Bound: bound}
		for _, s := range d.Recorder.Timeline {
			v.Values = append(v.Values, get(s))
		}
		return v
	}
	end := loadEnd(d) // the second in which it lies has few answers, and would look like a collapse
	loaded := func(name, unit, bound string, get func(wire.Second) *int64) Values {
		return of(name, unit, bound, func(s wire.Second) *int64 {
			if d.Moment(s.At, nil)+float64(max(1, d.Recorder.TimelineStepSeconds))/2 > end && s.Failures == 0 {
				return nil
			}
			return get(s)
		})
	}
	each := "each second"
	if n := d.Recorder.TimelineStepSeconds; n > 1 {
		each = fmt.Sprintf("each %d seconds", n)
	}
	all := []figuresOf{{
		key: "requests", title: "Requests in " + each, height: 130,
		values: []Values{
			loaded("succeeded", "", "", func(s wire.Second) *int64 { return ptr.To(s.Requests - s.Failures) }), of("failed", "", "", func(s wire.Second) *int64 { return &s.Failures }),
		},
		lines: func(i int) chart.Series {
			if i == 1 {
				return chart.Series{Colour: failureColour, Filled: true}
			}
			return chart.Series{Colour: 1}
		},
	}, {
		key: "latency", title: "Latency of " + each, unit: "µs", log: true, height: 120, lines: coloured(2),
		values: []Values{
			loaded("p50", "µs", string(v1alpha1.P50), func(s wire.Second) *int64 { return s.P50Microseconds }), loaded("p99", "µs", string(v1alpha1.P99), func(s wire.Second) *int64 { return s.P99Microseconds }),
		},
	}}
	lag := figuresOf{key: "lag", title: "Replication lag, the largest of " + each, unit: "µs", log: true, height: 120, lines: coloured(1)}
	for i, name := range d.LagNodes() {
		lag.values = append(lag.values, of(name, "µs", "", func(s wire.Second) *int64 { return figures.Lag(s.LagMicroseconds, i) }))
	}
	if len(lag.values) > 0 {
		all = append(all, lag)
	}
	return all
}

// loadEnd is when the last request was answered, without any that of time.
func loadEnd(d *figures.Document) float64 {
	if d.Recorder.LoadEndedAt == nil {
		return math.Inf(1)
	}
	return d.Moment(*d.Recorder.LoadEndedAt, nil)
}

func floats(values []*int64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.NaN()
		if v != nil {
			all[i] = float64(*v)
		}
	}
	return all
}

// boundsOf a percentile by seconds: whether it is a lower bound there. It is nil of other figures.
func boundsOf(d *figures.Document, percentile string) (all []bool) {
	if percentile == "" {
		return nil
	}
	for _, s := range d.Recorder.Timeline {
		all = append(all, slices.Contains(s.LowerBounds, v1alpha1.Percentile(percentile)))
	}
	return all
}

func lowerBounds(d *figures.Document) (all []string) {
	for _, s := range d.Recorder.Timeline {
		bounds := ""
		for _, p := range s.LowerBounds {
			bounds += " " + string(p)
		}
		all = append(all, bounds)
	}
	return all
}
