package suite

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
)

// Metric tells what a metric has figures of.
func Metric(name string) validation.Scopes {
	e, known := figure.Named(name)
	if !known {
		return validation.Scopes{}
	}
	rest, onlyStages := strings.CutPrefix(e.Path, stagesPath)
	return validation.Scopes{Whole: !onlyStages, Stages: e.InStages || onlyStages, Items: strings.Contains(rest, "[]")}
}

// lostWrites is the one figure that an Inconclusive trial proves too: a write that is known to be lost is lost.
const lostWrites = "lostWrites"

// metric is a figure of trials: of the whole load or of a stage, and of an item where it is in a list.
type metric struct {
	figure.Entry
	stage, item string
}

// stagesPath begins the figures that only stages have.
const stagesPath = "load.stages[]."

// pattern of the metric's path in a trial, with empty brackets for an item of a list.
func (m metric) pattern() string {
	switch {
	case strings.HasPrefix(m.Path, stagesPath):
		return strings.Replace(m.Path, "[]", "["+m.stage+"]", 1)
	case m.stage != "":
		return m.OfStage(m.stage)
	}
	return m.Path
}

// items of the metric's list in a trial, by the names that they have in all trials, and their paths.
func (m metric) items(x *v1alpha1.ReplicationExperiment) (names, paths []string) {
	list, _, _ := strings.Cut(m.pattern(), "[]")
	for _, name := range figure.Items(&x.Status, list) {
		names = append(names, strings.ReplaceAll(name, x.Name+"-", "")) // nodes begin with the trial's name
		paths = append(paths, strings.Replace(m.pattern(), "[]", "["+name+"]", 1))
	}
	return names, paths
}

// path of the metric in a trial, "" where that lacks the item.
func (m metric) path(x *v1alpha1.ReplicationExperiment) string {
	if m.item == "" {
		return m.pattern()
	}
	names, paths := m.items(x)
	if i := slices.Index(names, m.item); i >= 0 {
		return paths[i]
	}
	return ""
}

// of a trial, in the unit of the metric. It is not ok where the trial does not measure it.
func (m metric) of(x *v1alpha1.ReplicationExperiment) (compare.Interval, bool) {
	s := &x.Status
	if m.PartOf != "" {
		whole := m.PartOf
		if m.stage != "" {
			whole = figure.Entry{Path: m.PartOf}.OfStage(m.stage)
		}
		if n := figure.At(s, whole); n == nil || *n == 0 {
			return compare.Interval{}, false
		}
	}
	v, ok := compare.Measured(s, m.path(x))
	if load := m.load(s); m.Rate && load != nil && compare.HeldUp(*load) != "" {
		v.High = math.Inf(1) // the recorder held requests up, which it would have counted
	}
	scale := float64(max(1, m.Scale))
	return compare.Interval{Low: v.Low / scale, High: v.High / scale}, ok
}

// load has the figures of the load that the metric is of, or of its stage. It is nil where they were not measured.
func (m metric) load(s *v1alpha1.ReplicationExperimentStatus) *v1alpha1.StageFigures {
	if s.Load == nil {
		return nil
	}
	if m.stage == "" {
		return &s.Load.StageFigures
	}
	i := slices.IndexFunc(s.Load.Stages, func(stage v1alpha1.StageStatus) bool { return stage.Name == m.stage })
	if i < 0 {
		return nil
	}
	return &s.Load.Stages[i].StageFigures
}

// Value is a figure of one trial, in the unit of its metric.
type Value struct {
	Run    v1alpha1.TrialRun
	Metric v1alpha1.SuiteMetric
	Stage  string // "" is the whole load
	Item   string // "" where the metric is in no list
	compare.Interval
}

// Values of all trials that count in the figures of the status, by variant, metric and stage, in the order of their rounds.
func Values(suite *v1alpha1.ReplicationSuite, experiments map[string]*v1alpha1.ReplicationExperiment) (all []Value) {
	r := results{suite, experiments}
	runs := final(suite.Status.Runs)
	for _, v := range suite.Spec.Variants {
		rounds := r.counted(v.Name)
		for _, m := range metricsOf(&suite.Spec, inOrder(rounds)) {
			for _, round := range slices.Sorted(maps.Keys(rounds)) {
				if of, ok := m.of(rounds[round]); ok {
					all = append(all, Value{runs[Trial{v.Name, round}], v1alpha1.SuiteMetric(m.Name), m.stage, m.item, of})
				}
			}
		}
	}
	return all
}

// metricsOf lists the figures of a variant: those that comparisons of runs state, and those that the suite's spec names.
func metricsOf(spec *v1alpha1.ReplicationSuiteSpec, trials []*v1alpha1.ReplicationExperiment) (all []metric) {
	named := namedMetrics(spec)
	for _, e := range figure.All() {
		if slices.Contains(named, v1alpha1.SuiteMetric(e.Name)) || e.Compared && !strings.Contains(e.Path, "[]") {
			all = append(all, everywhere(e, trials)...)
		}
	}
	return all
}

// everywhere is a figure of the whole load, of each stage that counts, and of each item, as far as trials have them.
func everywhere(e figure.Entry, trials []*v1alpha1.ReplicationExperiment) (all []metric) {
	scopes := Metric(e.Name)
	if scopes.Whole {
		all = append(all, metric{Entry: e})
	}
	if scopes.Stages {
		for _, stage := range stagesOf(trials) {
			all = append(all, metric{Entry: e, stage: stage})
		}
	}
	if !scopes.Items {
		return all
	}
	var items []metric
	for _, m := range all {
		for _, x := range trials {
			names, _ := m.items(x)
			for _, m.item = range names {
				if !slices.ContainsFunc(items, func(o metric) bool { return o.stage == m.stage && o.item == m.item }) {
					items = append(items, m)
				}
			}
		}
	}
	return items
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
