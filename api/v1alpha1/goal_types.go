package v1alpha1

// Goal is a limit that decides between Passed and Failed.
//
// +kubebuilder:validation:XValidation:rule=`has(self.max) || has(self.min)`,message="the goal has no limit. Set max, min or both."
type Goal struct {
	// metric is what is limited.
	// +required
	Metric Metric `json:"metric"`
	// max is the largest value that meets the goal.
	// +optional
	Max *int64 `json:"max,omitempty"`
	// min is the smallest value that meets the goal.
	// +optional
	Min *int64 `json:"min,omitempty"`
}

// Metric names a measured figure: the field of the status, with its unit, and where fields of several parts have one name, the part
// before it. lostWrites to rejectedWrites and conflictingWrites are fields of writes, lag is that of replication, certificationFailures and
// forcedAborts are those of replication.group, the percentiles are those of load. flowControlPausedPercent limits
// replication.group.flowControlPausedPermille in percent.
// +kubebuilder:validation:Enum=lostWrites;ghostWrites;indeterminateWrites;rejectedWrites;staleReads;failedRequests;requestsPerSecond;p50Microseconds;p95Microseconds;p99Microseconds;maxMicroseconds;outageMilliseconds;lagP50Microseconds;lagP99Microseconds;lagMaxMicroseconds;droppedIterations;degradedCommits;conflictingWrites;certificationFailures;forcedAborts;flowControlPausedPercent
type Metric string
