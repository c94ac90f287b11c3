package suite

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
)

// Metric tells of a metric whether a trial has exactly one figure of it, and whether stages have one too.
func Metric(name string) (whole, inStages bool) {
	e, known := figure.Named(name)
	return known && !strings.Contains(e.Path, "[]"), e.InStages
}

// lostWrites is the one figure that an Inconclusive trial proves too: a write that is known to be lost is lost.
const lostWrites = "lostWrites"

// metric is a figure of trials: of the whole load, or of a stage.
type metric struct {
	figure.Entry
	stage string
}

func (m metric) path() string {
	if m.stage == "" {
		return m.Path
	}
	return m.OfStage(m.stage)
}

// of a trial, in the unit of the metric. It is not ok where the trial does not measure it.
func (m metric) of(x *v1alpha1.ReplicationExperiment) (compare.Interval, bool) {
	s := &x.Status
	if m.PartOf != "" {
		if whole := figure.At(s, m.PartOf); whole == nil || *whole == 0 {
			return compare.Interval{}, false
		}
	}
	if m.Rate && s.Load != nil && compare.HeldUp(s.Load.StageFigures) != "" {
		return compare.Interval{}, false
	}
	v, ok := compare.Measured(s, m.path())
	scale := float64(max(1, m.Scale))
	return compare.Interval{Low: v.Low / scale, High: v.High / scale}, ok
}

// metricsOf lists the figures of a suite's variants: those that comparisons state, and those that its spec names.
func metricsOf(spec *v1alpha1.ReplicationSuiteSpec, stages []string) []metric {
	named := namedMetrics(spec)
	var all []metric
	for _, e := range figure.All() {
		if !e.Compared && !slices.Contains(named, v1alpha1.SuiteMetric(e.Name)) || strings.Contains(e.Path, "[]") {
			continue
		}
		all = append(all, metric{Entry: e})
		for _, stage := range stages {
			if e.InStages {
				all = append(all, metric{e, stage})
			}
		}
	}
	return all
}

func namedMetrics(spec *v1alpha1.ReplicationSuiteSpec) (all []v1alpha1.SuiteMetric) {
	for _, c := range spec.Comparisons {
		all = append(all, c.Metrics...)
	}
	for _, e := range spec.Expectations {
		all = append(all, e.Metric)
	}
	for _, r := range spec.Reference {
		all = append(all, r.Metric)
	}
	return all
}

// stagesOf are the stages that count, in their order.
func stagesOf(trials []*v1alpha1.ReplicationExperiment) (names []string) {
	for _, x := range trials {
		for _, s := range x.Spec.Load.Stages {
			if !s.Discard && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// thousandth is the resolution of decimals.
const thousandth = 1000

// decimal of a finite number.
func decimal(v float64) v1alpha1.Decimal {
	return v1alpha1.Decimal(strconv.FormatFloat(math.Round(v*thousandth)/thousandth, 'f', -1, 64))
}

// atLeast rounds a lower bound down, "" where there is none.
func atLeast(v float64) v1alpha1.Decimal {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	return decimal(math.Floor(v*thousandth) / thousandth)
}

// atMost rounds an upper bound up, "" where there is none.
func atMost(v float64) v1alpha1.Decimal {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	return decimal(math.Ceil(v*thousandth) / thousandth)
}
