package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Verdict of an experiment.
// +kubebuilder:validation:Enum=Passed;Failed;Inconclusive;Invalid
type Verdict string

// Verdicts.
const (
	VerdictPassed       Verdict = "Passed"
	VerdictFailed       Verdict = "Failed"
	VerdictInconclusive Verdict = "Inconclusive"
	VerdictInvalid      Verdict = "Invalid"
)

// GoalStatus is a goal with what was measured.
type GoalStatus struct {
	// metric is what is limited.
	Metric Metric `json:"metric"`
	// limit in words: "max 0".
	Limit string `json:"limit"`
	// measured value; absent when it was not measured.
	// +optional
	Measured *int64 `json:"measured,omitempty"`
	// measuredMilli is the measured value in thousandths, for metrics whose measured value is rounded: the limit is compared with it.
	// +optional
	MeasuredMilli *int64 `json:"measuredMilli,omitempty"`
	// baselinePermille is the measured value in thousandths of the baseline's, if the limit is a percentage. Absent where bounds span over 10 points.
	// +optional
	BaselinePermille *int64 `json:"baselinePermille,omitempty"`
	// met is True, False or Unknown.
	Met metav1.ConditionStatus `json:"met"`
}

// ComparisonStatus states differences from the baseline, in percent of the baseline. One pair is an anecdote: no interval.
type ComparisonStatus struct {
	// baseline experiment.
	Baseline string `json:"baseline"`
	// requestsPerSecondPercent more (or, below 0, less) than the baseline; absent where the bounds allow a range of over 10 points.
	// +optional
	RequestsPerSecondPercent *int64 `json:"requestsPerSecondPercent,omitempty"`
	// p99Percent more than the baseline; absent when either p99 is a lower bound.
	// +optional
	P99Percent *int64 `json:"p99Percent,omitempty"`
	// note says how far the comparison may be trusted, or why there is none.
	// +optional
	Note string `json:"note,omitempty"`
}

// Goal is a limit that decides between Passed and Failed.
//
// +kubebuilder:validation:XValidation:rule=`has(self.max) || has(self.min) || has(self.minPercentOfBaseline) || has(self.maxPercentOfBaseline)`,message="the goal has no limit. Set max, min or both, or a percentage of the baseline."
type Goal struct {
	// metric is what is limited.
	// +required
	Metric Metric `json:"metric"`
	// max is the largest value that meets the goal.
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	Max *int64 `json:"max,omitempty"`
	// min is the smallest value that meets the goal.
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	Min *int64 `json:"min,omitempty"`
	// minPercentOfBaseline is the smallest part of the baseline's value that meets the goal.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	MinPercentOfBaseline *int64 `json:"minPercentOfBaseline,omitempty"`
	// maxPercentOfBaseline is the largest part of the baseline's value that meets the goal.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	MaxPercentOfBaseline *int64 `json:"maxPercentOfBaseline,omitempty"`
}

// Metric names a measured figure: the field of the status, with its unit, and where fields of several parts have one name, the part
// before it. lostWrites to rejectedWrites, conflictingWrites and divergentRows are fields of writes, lag is that of replication, certificationFailures and
// forcedAborts are those of replication.group, the percentiles are those of load. flowControlPausedPercent limits
// replication.group.flowControlPausedPermille in percent.
// +kubebuilder:validation:Enum=lostWrites;ghostWrites;indeterminateWrites;rejectedWrites;staleReads;failedRequests;requestsPerSecond;p50Microseconds;p95Microseconds;p99Microseconds;maxMicroseconds;outageMilliseconds;lagP50Microseconds;lagP99Microseconds;lagMaxMicroseconds;droppedIterations;degradedCommits;conflictingWrites;certificationFailures;forcedAborts;flowControlPausedPercent;divergentRows
type Metric string
