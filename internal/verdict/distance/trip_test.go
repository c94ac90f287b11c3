package distance

import (
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidencetest"
)

func TestMeasuredTrip(t *testing.T) {
	figures := func(p50 int64) *v1alpha1.RoundTripFigures { return &v1alpha1.RoundTripFigures{P50Microseconds: p50} }
	for name, c := range map[string]struct {
		base                   v1alpha1.DistanceBase
		before, after, without *v1alpha1.RoundTripFigures
		want                   int64
	}{
		"beside reads":                     {v1alpha1.BaseFromReads, figures(20_400), figures(20_600), figures(300), 20_400},
		"shorter after the load":           {v1alpha1.BaseFromReads, figures(20_400), figures(20_100), nil, 20_100},
		"not measured after the load":      {v1alpha1.BaseFromReads, figures(20_400), nil, nil, 20_400},
		"not measured":                     {v1alpha1.BaseFromReads, nil, nil, nil, 20_000},
		"beside a stage without distance":  {v1alpha1.BaseFromStage, figures(20_400), figures(20_600), figures(300), 20_100},
		"beside a stage, and not measured": {v1alpha1.BaseFromStage, figures(20_400), figures(20_600), nil, 20_000},
		"beside a baseline":                {v1alpha1.BaseFromBaseline, figures(20_400), figures(20_600), nil, 20_000},
		"beside a baseline, and too short": {v1alpha1.BaseFromBaseline, figures(19_500), figures(20_600), nil, 19_500},
	} {
		e := evidencetest.FarApart()
		r := &e.Distance.RoundTrips[0]
		r.Before, r.After, r.WithoutDistance = c.before, c.after, c.without
		if got := measuredTrip(e, c.base)(1, 0); got != c.want {
			t.Errorf("%s: %d µs, want %d", name, got, c.want)
		}
	}
}
