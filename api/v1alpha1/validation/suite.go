package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// SpecMost is how many bytes the JSON of a spec may have, of an experiment or of a suite: the operator caches all of them.
const SpecMost = 64 << 10

const (
	// nameMost is how long the name of an experiment may be.
	nameMost = 40
	// runsMost is how many runs the status of a suite holds.
	runsMost = 1024
	// faultsMost of an experiment.
	faultsMost = 16
)

// ofSuite are the fields of an experiment's spec that its suite sets.
var ofSuite = []string{"keep", "suspend", "abort", "ttlSecondsAfterFinished"}

// suiteRules in the order in which their errors are listed.
var suiteRules = []func(*suite){templates, trials, drawnFaults, comparisons, expectations, references}

// suite under validation.
type suite struct {
	*v1alpha1.ReplicationSuite
	metrics Metrics
	errs    field.ErrorList
}

// Scopes are what a metric has figures of: the whole trial, its stages, items of a list. Of an unknown metric there are none.
type Scopes struct{ Whole, Stages, Items bool }

// Metrics tells the scopes of a metric.
type Metrics func(name string) Scopes

// Suite lists everything that is wrong with a suite's spec beside the specs of its trials: those are checked as experiments.
func Suite(x *v1alpha1.ReplicationSuite, metrics Metrics) field.ErrorList {
	s := &suite{ReplicationSuite: x, metrics: metrics}
	for _, rule := range suiteRules {
		rule(s)
	}
	return s.errs
}

// refuse a field where wrong, with a message.
func (s *suite) refuse(wrong bool, path *field.Path, message string) {
	if wrong {
		s.errs = append(s.errs, &field.Error{Type: field.ErrorTypeInvalid, Field: path.String(), BadValue: field.OmitValueType{}, Detail: message})
	}
}

func templates(s *suite) {
	if len(s.Spec.Variants) == 0 || !Short(&s.Spec) { // the operator's cache holds no variant of a spec that is too long
		s.refuse(true, at("template"), fmt.Sprintf("the suite's spec has more than %d bytes, and the operator reads no more. Shorten it.", SpecMost))
		return
	}
	s.object(at("template.spec"), s.Spec.Template.Spec)
	for i, v := range s.Spec.Variants {
		if v.Patch != nil {
			s.object(at("variants", i, "patch"), *v.Patch)
		}
	}
}

// Short tells whether the operator reads the spec of a suite.
func Short(x *v1alpha1.ReplicationSuiteSpec) bool { return TooLong(x) == "" }

// TooLong says why the operator does not read a spec, with its defaults, "" where it does.
func TooLong(spec any) string {
	switch text, err := json.Marshal(spec); {
	case err != nil:
		return fmt.Sprintf("the spec cannot be encoded: %v", err)
	case len(text) > SpecMost:
		return fmt.Sprintf("the spec has %d bytes with its defaults, and the operator reads %d. Shorten it.", len(text), SpecMost)
	}
	return ""
}

func (s *suite) object(path *field.Path, raw runtime.RawExtension) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw.Raw, &fields); err != nil || fields == nil {
		s.refuse(true, path, "this is no object. Write the fields of an experiment's spec.")
		return
	}
	for _, name := range ofSuite {
		_, set := fields[name]
		s.refuse(set, path.Child(name), "the suite sets this field of its trials. Remove it.")
	}
	_, set := fields["faults"]
	s.refuse(set && s.Spec.DrawFaults != nil, path.Child("faults"), "spec.drawFaults draws the faults. Remove one of them.")
}

func trials(s *suite) {
	runs := int(s.Spec.Trials)*len(s.Spec.Variants) + int(s.Spec.Retries)
	s.refuse(runs > runsMost, at("trials"), fmt.Sprintf("the suite would have up to %d runs, and the limit is %d. Use fewer trials or variants.", runs, runsMost))
	for i, v := range s.Spec.Variants {
		longest := fmt.Sprintf("%s-%s-%d", s.Name, v.Name, s.Spec.Trials)
		if s.Spec.Retries > 0 {
			longest += fmt.Sprintf("-r%d", s.Spec.Retries+1)
		}
		s.refuse(len(longest) > nameMost, at("variants", i, "name"),
			fmt.Sprintf("a trial would be named %s, of %d characters, and the limit is %d. Shorten this name or the suite's.", longest, len(longest), nameMost))
	}
}

func drawnFaults(s *suite) {
	d := s.Spec.DrawFaults
	if d == nil {
		return
	}
	s.refuse(d.MinSeconds > d.MaxSeconds, at("drawFaults.minSeconds"), fmt.Sprintf("minSeconds is above maxSeconds. Set maxSeconds to %d or more.", d.MinSeconds))
	each := 1
	if d.DuringPartitionSeconds != nil {
		each = 2
		s.refuse(slices.Contains(d.Actions, "Partition"), at("drawFaults.actions"), "duringPartitionSeconds draws partitions itself. Remove Partition from the actions.")
	}
	most := int(d.Count) * each * int(slices.Max(append([]int32{1}, d.Nodes...)))
	s.refuse(most > faultsMost, at("drawFaults.count"), fmt.Sprintf("a trial would have up to %d faults, and the limit is %d. Use a lower count.", most, faultsMost))
	everyone := len(d.PartitionFrom) == 1 && d.PartitionFrom[0] == "Everyone"
	s.refuse(!everyone && len(d.PartitionFrom) > 0 && !slices.Contains(d.Actions, "Partition"), at("drawFaults.partitionFrom"), "no Partition is drawn. Add it to the actions, or remove partitionFrom.")
}

// known refuses a variant that the suite does not have.
func (s *suite) known(name string, path *field.Path) {
	s.refuse(!slices.ContainsFunc(s.Spec.Variants, func(v v1alpha1.SuiteVariant) bool { return v.Name == name }), path,
		fmt.Sprintf("there is no variant %q. Use a name of spec.variants.", name))
}

// measurable refuses an unknown metric, and a stage or an item that it has no figures of.
func (s *suite) measurable(m v1alpha1.SuiteMetric, stage, item string, path *field.Path) {
	if !s.isFigure(m, path.Child("metric")) {
		return
	}
	p := s.metrics(string(m))
	s.refuse(stage != "" && !p.Stages, path.Child("stage"), fmt.Sprintf("stages have no %s. Remove the stage.", m))
	s.refuse(stage == "" && p.Stages && !p.Whole, path.Child("stage"), fmt.Sprintf("only stages have %s. Set the stage.", m))
	s.refuse(item != "" && !p.Items, path.Child("item"), fmt.Sprintf("%s has no items. Remove item.", m))
	s.refuse(item == "" && p.Items, path.Child("item"), fmt.Sprintf("%s is measured for each item. Set item, such as db-0.", m))
}

func (s *suite) isFigure(m v1alpha1.SuiteMetric, path *field.Path) bool {
	unknown := s.metrics(string(m)) == Scopes{}
	s.refuse(unknown, path, fmt.Sprintf("%q is no figure of a trial. Use a metric of docs/reference/metrics-of-suites.md.", m))
	return !unknown
}

func comparisons(s *suite) {
	for i, c := range s.Spec.Comparisons {
		path := at("comparisons", i)
		s.known(c.Of, path.Child("of"))
		s.known(c.To, path.Child("to"))
		s.refuse(c.Of == c.To, path.Child("to"), "a variant is compared with itself. Use another variant with the same patch.")
		for j, m := range c.Metrics {
			s.isFigure(m, path.Child("metrics").Index(j))
		}
	}
}

func expectations(s *suite) {
	for i, e := range s.Spec.Expectations {
		path := at("expectations", i)
		s.measurable(e.Metric, e.Stage, e.Item, path)
		switch {
		case (e.Variant == "") == (e.Comparison == ""):
			s.refuse(true, path, "an expectation is of a variant or of a comparison. Set one of the two.")
		case e.Variant != "":
			s.ofTrials(path, e)
		default:
			s.ofRatio(path, e)
		}
	}
}

func (s *suite) ofTrials(path *field.Path, e v1alpha1.Expectation) {
	s.known(e.Variant, path.Child("variant"))
	s.refuse(e.Max == nil && e.Min == nil, path, "the expectation has no limit. Set max, min or both.")
	s.refuse(e.Max != nil && e.Min != nil && *e.Min > *e.Max, path.Child("min"), "min is above max, so no value meets both. Exchange them, or remove one.")
	s.refuse(e.MaxPercent != nil || e.MinPercent != nil, path, "maxPercent and minPercent limit a comparison. Use max and min.")
	s.refuse(e.InAtLeastTrials != nil && *e.InAtLeastTrials > s.Spec.Trials, path.Child("inAtLeastTrials"), fmt.Sprintf("each variant has %d trials. Use at most that.", s.Spec.Trials))
}

func (s *suite) ofRatio(path *field.Path, e v1alpha1.Expectation) {
	stated := slices.ContainsFunc(s.Spec.Comparisons, func(c v1alpha1.SuiteComparison) bool {
		return c.Of+"/"+c.To == e.Comparison && slices.Contains(c.Metrics, e.Metric)
	})
	s.refuse(!stated, path.Child("comparison"), fmt.Sprintf("spec.comparisons has no %q with %s. Write it as of/to, and add the metric there.", e.Comparison, e.Metric))
	s.refuse(e.MaxPercent == nil && e.MinPercent == nil, path, "the expectation has no limit. Set maxPercent, minPercent or both.")
	s.refuse(e.MaxPercent != nil && e.MinPercent != nil && *e.MinPercent > *e.MaxPercent, path.Child("minPercent"), "minPercent is above maxPercent. Exchange them, or remove one.")
	s.refuse(e.MaxPercent == nil && e.MinPercent != nil && *e.MinPercent == 0, path.Child("minPercent"), "every ratio meets this limit. Use 1 or more, or set maxPercent.")
	s.refuse(e.Max != nil || e.Min != nil || e.InAtLeastTrials != nil, path, "max, min and inAtLeastTrials are of a variant. Use maxPercent and minPercent.")
	s.refuse(s.Spec.Trials < v1alpha1.RoundsFewest, path, fmt.Sprintf("an interval needs %d rounds. Set trials to %[1]d or more.", v1alpha1.RoundsFewest))
}

// Unmeasured lists the comparisons, expectations and reference figures of a suite that its trials do not measure, and limits that no trial or every trial meets.
// The trials are one of each variant, by name.
func Unmeasured(x *v1alpha1.ReplicationSuite, trials map[string]*v1alpha1.ReplicationExperiment) field.ErrorList {
	var errs field.ErrorList
	for _, f := range namedFigures(&x.Spec) {
		trial := spec{ReplicationExperimentSpec: trials[f.variant].Spec}
		f.check(&trial, x.Spec.DrawFaults)
		errs = append(errs, trial.errs...)
	}
	return errs
}

// namedFigure is a figure of a variant's trials that a suite names.
type namedFigure struct {
	path, metric         *field.Path
	variant, stage, item string
	// goal is the metric, with the limits of an expectation of the variant.
	goal v1alpha1.Goal
}

func namedFigures(x *v1alpha1.ReplicationSuiteSpec) (all []namedFigure) {
	for i, c := range x.Comparisons {
		for j, m := range c.Metrics {
			path := at("comparisons", i, "metrics", j)
			for _, variant := range []string{c.Of, c.To} {
				all = append(all, namedFigure{path: path, metric: path, variant: variant, goal: v1alpha1.Goal{Metric: v1alpha1.Metric(m)}})
			}
		}
	}
	for i, e := range x.Expectations {
		path := at("expectations", i)
		f := namedFigure{path, path.Child("metric"), e.Variant, e.Stage, e.Item, v1alpha1.Goal{Metric: v1alpha1.Metric(e.Metric), Max: e.Max, Min: e.Min}}
		if e.Variant != "" {
			all = append(all, f)
			continue
		}
		for _, f.variant = range strings.Split(e.Comparison, "/") {
			all = append(all, f)
		}
	}
	for i, r := range x.Reference {
		path := at("reference", i)
		all = append(all, namedFigure{path, path.Child("metric"), r.Variant, r.Stage, r.Item, v1alpha1.Goal{Metric: v1alpha1.Metric(r.Metric)}})
	}
	return all
}

// check the figure against the spec of a trial. With drawn faults, each round's load has another length.
func (f namedFigure) check(trial *spec, drawn *v1alpha1.DrawFaults) {
	limits(trial, f.path, f.goal)
	if f.stage == "" && drawn == nil { // these limits depend on the length of the whole load
		countable(trial, f.path, f.goal)
		outage(trial, f.path, f.goal)
	}
	measured(trial, f.metric, f.goal)
	counts := func(have v1alpha1.Stage) bool { return have.Name == f.stage && !have.Discard }
	trial.refuse(f.stage != "" && !slices.ContainsFunc(trial.Load.Stages, counts), f.path.Child("stage"),
		fmt.Sprintf("variant %s has no stage %q that counts. Use the name of a stage without discard.", f.variant, f.stage))
	if why := f.unknown(trial, drawn); f.item != "" && why != "" {
		trial.refuse(true, f.path.Child("item"), fmt.Sprintf("variant %s has no %s", f.variant, why))
	}
}

func references(s *suite) {
	for i, r := range s.Spec.Reference {
		path := at("reference", i)
		s.known(r.Variant, path.Child("variant"))
		s.measurable(r.Metric, r.Stage, r.Item, path)
	}
}
