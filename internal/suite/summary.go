package suite

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
)

// results are the experiments of the runs that ended, by their names. One that was deleted is not among them.
type results struct {
	suite       *v1alpha1.ReplicationSuite
	experiments map[string]*v1alpha1.ReplicationExperiment
}

// counted are a variant's trials whose figures count, by their rounds.
func (r results) counted(variant string) map[int32]*v1alpha1.ReplicationExperiment {
	rounds := map[int32]*v1alpha1.ReplicationExperiment{}
	for t, run := range final(r.suite.Status.Runs) {
		if x := r.experiments[run.Name]; x != nil && t.Variant == variant && compare.Reliable(run.Verdict) {
			rounds[t.Round] = x
		}
	}
	return rounds
}

func inOrder(rounds map[int32]*v1alpha1.ReplicationExperiment) (all []*v1alpha1.ReplicationExperiment) {
	for _, round := range slices.Sorted(maps.Keys(rounds)) {
		all = append(all, rounds[round])
	}
	return all
}

// Summarize writes into the status of a suite what its trials have come to. The experiments are those of the runs that ended, by their names.
func Summarize(suite *v1alpha1.ReplicationSuite, experiments map[string]*v1alpha1.ReplicationExperiment) {
	r := results{suite, experiments}
	s := &suite.Status
	s.Notes = r.deleted()
	s.Trials = Count(suite)
	s.Variants = nil
	for _, v := range suite.Spec.Variants {
		s.Variants = append(s.Variants, r.variant(v.Name))
		s.Notes = append(s.Notes, r.mixed(v.Name)...)
		s.Notes = append(s.Notes, r.selected(v.Name)...)
	}
	s.Notes = append(s.Notes, r.beside()...)
	r.compareAll()
	r.judge()
	s.EstimatedCompletionTime = eta(suite)
	s.Columns = map[string]string{"trials": fmt.Sprintf("%d/%d", s.Trials.Done, s.Trials.Total)}
}

// deleted names trials that were deleted: their figures and their losses are left out.
func (r results) deleted() (notes []string) {
	for _, run := range r.suite.Status.Runs {
		if run.UID != "" && run.Verdict != "" && r.experiments[run.Name] == nil {
			notes = append(notes, fmt.Sprintf("Experiment %s was deleted: its figures are left out.", run.Name))
		}
	}
	return notes
}

// selected notes that many runs of a variant were Inconclusive: the others may be those of a less busy machine.
func (r results) selected(variant string) []string {
	runs, unusable := 0, 0
	for _, run := range r.suite.Status.Runs {
		if run.Variant == variant && run.Verdict != "" {
			runs++
			if run.Verdict == v1alpha1.VerdictInconclusive {
				unusable++
			}
		}
	}
	if unusable*4 <= runs {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d runs of variant %s were Inconclusive: its figures are of the others.", unusable, runs, variant)}
}

// mixed says that trials of a variant did not run the same software.
func (r results) mixed(variant string) []string {
	trials := inOrder(r.counted(variant))
	if len(trials) == 0 {
		return nil
	}
	first := trials[0]
	i := slices.IndexFunc(trials, func(x *v1alpha1.ReplicationExperiment) bool {
		return !equality.Semantic.DeepEqual(x.Status.Images, first.Status.Images) || !equality.Semantic.DeepEqual(x.Status.Versions, first.Status.Versions) ||
			x.Status.ScriptHash != first.Status.ScriptHash
	})
	if i < 0 {
		return nil
	}
	return []string{fmt.Sprintf("Trials %s and %s ran different images, versions or scripts: the figures of %s mix both.", first.Name, trials[i].Name, variant)}
}

// beside counts trials that ran beside databases of earlier ones.
func (r results) beside() []string {
	n := 0
	for _, run := range r.suite.Status.Runs {
		if run.BesideDatabases {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Trials that ran beside databases of earlier trials: %d. These may have been slower. Set keepTrials to 0.", n)}
}

// Count the trials of a suite by its runs. One that is to be repeated is not done.
func Count(suite *v1alpha1.ReplicationSuite) *v1alpha1.TrialCounts {
	c := &v1alpha1.TrialCounts{Total: suite.Spec.Trials * int32(len(suite.Spec.Variants)), Repeated: repeated(suite.Status.Runs)}
	next := Next(suite)
	for t, run := range final(suite.Status.Runs) {
		again := next != nil && next.Attempt > 1 && t == Trial{next.Variant, next.Round}
		if run.Verdict == "" || again {
			continue
		}
		c.Done++
		switch run.Verdict {
		case v1alpha1.VerdictPassed:
			c.Passed++
		case v1alpha1.VerdictFailed:
			c.Failed++
		case v1alpha1.VerdictInvalid:
			c.Invalid++
		default:
			c.Inconclusive++
		}
	}
	return c
}

func (r results) variant(name string) v1alpha1.VariantStatus {
	trials := inOrder(r.counted(name))
	v := v1alpha1.VariantStatus{Name: name, Trials: int32(len(trials)), Losses: r.losses(name)}
	for _, m := range metricsOf(&r.suite.Spec, trials) {
		var values []compare.Interval
		for _, x := range trials {
			if value, ok := m.of(x); ok {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			v.Figures = append(v.Figures, summary(m, values))
		}
	}
	if most := min(mostFigures, mostOfAll/len(r.suite.Spec.Variants)); len(v.Figures) > most {
		v.Figures = v.Figures[:most]
		r.suite.Status.Notes = append(r.suite.Status.Notes, fmt.Sprintf("The status holds %d figures of variant %s: compare fewer metrics.", most, name))
	}
	return v
}

const (
	mostFigures = 256  // that the status holds of a variant
	mostOfAll   = 2048 // of all variants: with 1,024 runs a status then has 1.1 MB, and an API server keeps objects of 1.5
)

func summary(m metric, values []compare.Interval) v1alpha1.TrialsFigure {
	s := compare.Summarize(values)
	f := v1alpha1.TrialsFigure{Name: v1alpha1.SuiteMetric(m.Name), Stage: m.stage, Item: m.item, N: int32(s.Trials)}
	if s.Median.Exact() {
		f.Median = decimal(s.Median.Low)
	} else {
		f.MedianAtLeast, f.MedianAtMost = atLeast(s.Median.Low), atMost(s.Median.High)
	}
	if s.Range != nil {
		f.Low, f.High = atLeast(s.Range.Low), atMost(s.Range.High)
	}
	return f
}

// losses counts the trials of a variant that lost writes. Inconclusive runs count where they lost some or may have, so that no repetition hides a
// loss. Runs without a count are left out.
func (r results) losses(variant string) *v1alpha1.LossesStatus {
	entry, _ := figure.Named(lostWrites)
	var lost []compare.Interval
	for _, run := range r.suite.Status.Runs {
		if x := r.experiments[run.Name]; run.Variant == variant && x != nil {
			if n, ok := r.evidence(metric{Entry: entry}, run, x); ok {
				lost = append(lost, n)
			}
		}
	}
	l := compare.CountLosses(lost)
	if l.Of == 0 {
		return nil
	}
	s := &v1alpha1.LossesStatus{LostIn: int32(l.LostIn), Of: int32(l.Of), UpperPercent: l.UpperPercent}
	if l.LostInAtMost > l.LostIn {
		s.LostInAtMost = int32(l.LostInAtMost)
	}
	return s
}

// eta is when the remaining trials will have ended: each takes the median of its variant's runs, or of all runs.
func eta(suite *v1alpha1.ReplicationSuite) *metav1.Time {
	took, all := map[string][]int64{}, []int64{}
	var last time.Time
	for _, run := range suite.Status.Runs {
		if run.StartTime == nil || run.CompletionTime == nil {
			continue
		}
		seconds := int64(run.CompletionTime.Sub(run.StartTime.Time).Seconds())
		took[run.Variant], all = append(took[run.Variant], seconds), append(all, seconds)
		last = run.CompletionTime.Time
	}
	if len(all) == 0 {
		return nil
	}
	ended := final(suite.Status.Runs)
	for _, t := range Trials(&suite.Spec) {
		if ended[t].Verdict != "" {
			continue
		}
		of := took[t.Variant]
		if len(of) == 0 {
			of = all
		}
		last = last.Add(time.Duration(percentile.Median(slices.Clone(of)) * float64(time.Second)))
	}
	at := metav1.NewTime(last.Truncate(time.Second))
	return &at
}
