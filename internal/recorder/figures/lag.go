package figures

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// MarkLag marks the percentiles of a lag that leave out less than the part of the time in which this process did not run: the
// lag probe stood still with it. load are the figures of all stages that count, as the lag's writes do.
func MarkLag(l *wire.LagResult, load wire.StageResult) {
	marked := []*wire.LagDistribution{&l.LagDistribution}
	for i := range l.Nodes {
		marked = append(marked, &l.Nodes[i].LagDistribution)
	}
	for i := range l.Sizes {
		marked = append(marked, &l.Sizes[i].LagDistribution)
	}
	for _, d := range marked {
		d.LowerBounds = lagBounds(*d, load)
		if load.PausedMicroseconds > 0 { // what a pause hid may have taken longer
			d.AtMostMicroseconds = nil
		}
	}
}

func lagBounds(d wire.LagDistribution, load wire.StageResult) (lower []v1alpha1.Percentile) {
	for _, p := range []struct {
		name    v1alpha1.Percentile
		percent int64
		value   *int64
	}{{v1alpha1.P50, 50, d.P50Microseconds}, {v1alpha1.P99, 99, d.P99Microseconds}, {v1alpha1.Max, 100, d.MaxMicroseconds}} {
		paused := percentile.LeavesOutLess(p.percent, load.PausedMicroseconds, load.DurationMicroseconds)
		if p.value != nil && (paused || slices.Contains(d.LowerBounds, p.name)) {
			lower = append(lower, p.name)
		}
	}
	return lower
}
