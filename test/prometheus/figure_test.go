package prometheus

import (
	"math"
	"testing"

	"github.com/prometheus/common/model"
)

// telling tells whether an answer has a figure: one that is a number, and finite, or a histogram that is not empty. Where the answer goes by
// namespaces it has to be of this one.
func telling(answer model.Value, namespace string) bool {
	switch answer := answer.(type) {
	case model.Vector:
		for _, s := range answer {
			if of(s.Metric, namespace) && (s.Histogram != nil && s.Histogram.Count > 0 || s.Histogram == nil && finite(s.Value)) {
				return true
			}
		}
	case model.Matrix:
		for _, s := range answer {
			if of(s.Metric, namespace) && anyFigure(s) {
				return true
			}
		}
	}
	return false
}

func of(m model.Metric, namespace string) bool {
	found, there := m["namespace"]
	return !there || string(found) == namespace
}

func anyFigure(s *model.SampleStream) bool {
	for _, v := range s.Values {
		if finite(v.Value) {
			return true
		}
	}
	for _, h := range s.Histograms {
		if h.Histogram.Count > 0 {
			return true
		}
	}
	return false
}

func finite(v model.SampleValue) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func TestTelling(t *testing.T) {
	nan, inf := model.SampleValue(math.NaN()), model.SampleValue(math.Inf(1))
	vector := func(m model.Metric, v model.SampleValue) model.Value { return model.Vector{{Metric: m, Value: v}} }
	histogram := func(count model.FloatString) *model.SampleHistogram { return &model.SampleHistogram{Count: count} }
	for name, c := range map[string]struct {
		answer model.Value
		want   bool
	}{
		"nothing":                 {model.Vector{}, false},
		"no number":               {vector(nil, nan), false},
		"beyond all":              {vector(nil, inf), false},
		"zero":                    {vector(nil, 0), true},
		"of this one":             {vector(model.Metric{"namespace": "n"}, 1), true},
		"of another":              {vector(model.Metric{"namespace": "other"}, 1), false},
		"an empty histogram":      {model.Vector{{Histogram: histogram(0)}}, false},
		"a histogram":             {model.Vector{{Histogram: histogram(2)}}, true},
		"none over time":          {model.Matrix{{Values: []model.SamplePair{{Value: nan}, {Value: inf}}}}, false},
		"one over time":           {model.Matrix{{Values: []model.SamplePair{{Value: nan}, {Value: 3}}}}, true},
		"histograms over time":    {model.Matrix{{Histograms: []model.SampleHistogramPair{{Histogram: histogram(2)}}}}, true},
		"of another one in time":  {model.Matrix{{Metric: model.Metric{"namespace": "other"}, Values: []model.SamplePair{{Value: 3}}}}, false},
		"a figure of a kind else": {&model.Scalar{Value: 1}, false},
	} {
		if got := telling(c.answer, "n"); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
