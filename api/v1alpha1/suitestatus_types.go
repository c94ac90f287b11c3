package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LabelSuite is on each trial, with the name of its suite. The owner reference says which suite of that name.
const LabelSuite = "replab.dev/suite"

// ReplicationSuiteStatus is the result of a suite.
type ReplicationSuiteStatus struct {
	// observedGeneration of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Accepted, Complete and Passed. While Complete is False its reason and message say what the suite waits for.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// startTime is when the suite was accepted. From then on the spec is fixed.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when it was over.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// estimatedCompletionTime is when the remaining trials will have ended, if they take as long as those before. Absent before the first has
	// ended. Waiting for other experiments is not in it.
	// +optional
	EstimatedCompletionTime *metav1.Time `json:"estimatedCompletionTime,omitempty"`
	// specHash identifies the fields of the spec that are fixed.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// tidyTime is when the suite began to wait for the removal of databases.
	// +optional
	TidyTime *metav1.Time `json:"tidyTime,omitempty"`
	// verdict is Passed, Failed (an expectation is not met), Inconclusive (an expectation could not be judged, or a variant not be measured)
	// or Invalid (a trial was).
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// reasons are the cause of the verdict.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Reasons []string `json:"reasons,omitempty"`
	// notes state limits of the results, and findings weaker than the verdict's cause. They do not change the verdict.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Notes []string `json:"notes,omitempty"`
	// columns are what lists of suites show.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Columns map[string]string `json:"columns,omitempty"`
	// trials counts them.
	// +optional
	Trials *TrialCounts `json:"trials,omitempty"`
	// runs are the trials that were begun, in their order. Each is written here before its experiment is created.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	Runs []TrialRun `json:"runs,omitempty"`
	// variants with their figures over the trials.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Variants []VariantStatus `json:"variants,omitempty"`
	// comparisons of the variants.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Comparisons []SuiteComparisonStatus `json:"comparisons,omitempty"`
	// expectations of the spec, in their order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Expectations []ExpectationStatus `json:"expectations,omitempty"`
}

// TrialCounts counts trials.
type TrialCounts struct {
	// total of trials that the suite runs, without repeated ones.
	Total int32 `json:"total"`
	// done are those that ended and are not repeated.
	Done int32 `json:"done"`
	// passed of those that are done.
	Passed int32 `json:"passed"`
	// failed of those that are done: a goal was not met.
	Failed int32 `json:"failed"`
	// inconclusive of those that are done.
	Inconclusive int32 `json:"inconclusive"`
	// invalid of those that are done. The suite stops after the first.
	Invalid int32 `json:"invalid"`
	// repeated are Inconclusive runs that another run replaced.
	Repeated int32 `json:"repeated"`
}

// TrialRun is one run of a trial. A trial that is repeated has several.
type TrialRun struct {
	// name of the experiment.
	Name string `json:"name"`
	// variant that it runs.
	Variant string `json:"variant"`
	// round that it belongs to, from 1.
	Round int32 `json:"round"`
	// attempt at this trial, from 1.
	Attempt int32 `json:"attempt"`
	// uid of the experiment, once it was created.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// specHash identifies what the experiment measures. Absent if its spec was changed, or may have been, before the start.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// besideDatabases tells that databases of earlier trials were still there when it began.
	// +optional
	BesideDatabases bool `json:"besideDatabases,omitempty"`
	// startTime is when the experiment was accepted.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when it was over.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// verdict once it has ended.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// reason is the first reason of a verdict other than Passed.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// VariantStatus is the result of a variant's trials.
type VariantStatus struct {
	// name of the variant.
	Name string `json:"name"`
	// trials whose figures count: those that passed or failed.
	Trials int32 `json:"trials"`
	// figures over these trials.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Figures []TrialsFigure `json:"figures,omitempty"`
	// losses of acknowledged writes. Absent when no trial has a count.
	// +optional
	Losses *LossesStatus `json:"losses,omitempty"`
}

// TrialsFigure is a figure over the trials of a variant, in the unit of its name.
type TrialsFigure struct {
	// name of the figure.
	Name SuiteMetric `json:"name"`
	// stage of the load. Absent: the whole load.
	// +optional
	Stage string `json:"stage,omitempty"`
	// item of a list, without the trial's name.
	// +optional
	Item string `json:"item,omitempty"`
	// median of the trials. Absent when it is not exact.
	// +optional
	Median Decimal `json:"median,omitempty"`
	// medianAtLeast is the lower bound of a median that is not exact.
	// +optional
	MedianAtLeast Decimal `json:"medianAtLeast,omitempty"`
	// medianAtMost is the upper bound of a median that is not exact.
	// +optional
	MedianAtMost Decimal `json:"medianAtMost,omitempty"`
	// low end of the interval that holds the median of all such trials with 95% confidence. Absent with fewer than six trials, or without bound.
	// +optional
	Low Decimal `json:"low,omitempty"`
	// high end of this interval.
	// +optional
	High Decimal `json:"high,omitempty"`
	// n is the number of trials that have the figure.
	N int32 `json:"n"`
}

// LossesStatus counts trials that lost acknowledged writes.
type LossesStatus struct {
	// lostIn is the number of trials that certainly lost some.
	LostIn int32 `json:"lostIn"`
	// lostInAtMost is the number of trials that lost some or may have. Absent when it is lostIn.
	// +optional
	LostInAtMost int32 `json:"lostInAtMost,omitempty"`
	// of is the number of runs that count: those that passed or failed their goals, and Inconclusive ones that may have lost some.
	Of int32 `json:"of"`
	// upperPercent bounds the share of all such trials that lose writes, with 95% confidence (Clopper and Pearson, one-sided), rounded up.
	UpperPercent int64 `json:"upperPercent"`
}

// SuiteComparisonStatus compares a metric of two variants, round by round.
type SuiteComparisonStatus struct {
	// of is the variant that is compared.
	Of string `json:"of"`
	// to is the variant that it is compared with.
	To string `json:"to"`
	// metric that is compared.
	Metric SuiteMetric `json:"metric"`
	// stage of the load. Absent: the whole load.
	// +optional
	Stage string `json:"stage,omitempty"`
	// item of a list, without the trial's name.
	// +optional
	Item string `json:"item,omitempty"`
	// ratioPercent is the typical ratio of a round: 100 for equal figures. Absent when it is not exact.
	// +optional
	RatioPercent Decimal `json:"ratioPercent,omitempty"`
	// low end of the 95% interval of the median ratio of all such rounds, in percent. Absent with fewer than six rounds, or without bound.
	// +optional
	Low Decimal `json:"low,omitempty"`
	// high end of this interval.
	// +optional
	High Decimal `json:"high,omitempty"`
	// n is the number of rounds in which both variants have the figure.
	N int32 `json:"n"`
	// p is the probability of a difference as lopsided as this one if there were none: Wilcoxon's signed-rank test.
	// +optional
	P Decimal `json:"p,omitempty"`
	// conclusion is Higher, Lower, Same (within 2 percent) or Undecided.
	Conclusion Conclusion `json:"conclusion"`
	// roundsNeeded estimates how many rounds in all would decide it.
	// +optional
	RoundsNeeded int32 `json:"roundsNeeded,omitempty"`
}

// Conclusion of a comparison.
// +kubebuilder:validation:Enum=Higher;Lower;Same;Undecided
type Conclusion string

// Conclusions. ConclusionUndecided is neither a difference nor the proof of none.
const (
	ConclusionHigher    Conclusion = "Higher"
	ConclusionLower     Conclusion = "Lower"
	ConclusionSame      Conclusion = "Same"
	ConclusionUndecided Conclusion = "Undecided"
)

// ExpectationStatus is an expectation with what was found.
type ExpectationStatus struct {
	// expectation in words.
	Expectation string `json:"expectation"`
	// found is what was measured, in words.
	// +optional
	Found string `json:"found,omitempty"`
	// met is True, False or Unknown.
	Met metav1.ConditionStatus `json:"met"`
}
