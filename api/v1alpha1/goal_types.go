package v1alpha1

// Goal is a limit that decides between Passed and Failed.
//
// +kubebuilder:validation:XValidation:rule=`has(self.max) || has(self.min)`,message=`goals[] needs a limit: give max, min or both`,messageExpression=`'goals[' + self.metric + '] needs a limit: give max, min or both'`
// +kubebuilder:validation:XValidation:rule="!has(self.max) || !has(self.min) || self.min <= self.max",fieldPath=".min",message="goals[].min is above max, which no value can meet: exchange them, or leave one out",messageExpression="'goals[' + self.metric + '].min is above max, which no value can meet: exchange them, or leave one out'"
// +kubebuilder:validation:XValidation:rule=`self.metric.startsWith('lag') || ((!has(self.max) || self.max >= 0) && (!has(self.min) || self.min >= 0))`,message=`goals[] has a negative limit, and what it counts or times is never below 0: use 0 or more`,messageExpression=`'goals[' + self.metric + '] has a negative limit, and what it counts or times is never below 0: use 0 or more'`
// +kubebuilder:validation:XValidation:rule=`!self.metric.endsWith('Permille') || ((!has(self.max) || self.max <= 1000) && (!has(self.min) || self.min <= 1000))`,message=`goals[] has a limit above 1000, which is the whole: give thousandths, such as 50 for 5%`,messageExpression=`'goals[' + self.metric + '] has a limit above 1000, which is the whole: give thousandths, such as 50 for 5%'`
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
// before it. lostWrites to rejectedWrites and conflictingWrites are fields of writes, lag is that of replication, certificationFailures to
// flowControlPausedPermille are those of replication.group, the percentiles are those of load.
// +kubebuilder:validation:Enum=lostWrites;ghostWrites;indeterminateWrites;rejectedWrites;staleReads;failedRequests;requestsPerSecond;p50Microseconds;p95Microseconds;p99Microseconds;maxMicroseconds;outageMilliseconds;lagP50Microseconds;lagP99Microseconds;lagMaxMicroseconds;droppedIterations;unacknowledgedCommits;conflictingWrites;certificationFailures;forcedAborts;flowControlPausedPermille
type Metric string
