package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ReplicationSuite runs an experiment many times, in variants, and says what can be concluded. Each run is a ReplicationExperiment that the
// suite owns: a trial. One trial runs at a time.
//
// The spec is fixed once the suite has started, apart from keepTrials, suspend, abort and ttlSecondsAfterFinished.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=replicationsuites,singular=replicationsuite,shortName=repsuite,categories=replab,scope=Namespaced
// +kubebuilder:printcolumn:name="Trials",type=string,JSONPath=`.status.columns.trials`
// +kubebuilder:printcolumn:name="Conclusion",type=string,JSONPath=`.status.columns.conclusion`
// +kubebuilder:printcolumn:name="ETA",type=string,JSONPath=`.status.estimatedCompletionTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: trials are named after it. Use lower-case letters, digits and '-', a letter first."
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.template == oldSelf.spec.template",fieldPath=".spec.template",message="spec.template cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.variants == oldSelf.spec.variants",fieldPath=".spec.variants",message="spec.variants cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.trials == oldSelf.spec.trials",fieldPath=".spec.trials",message="spec.trials cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.order == oldSelf.spec.order",fieldPath=".spec.order",message="spec.order cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.seed == oldSelf.spec.seed",fieldPath=".spec.seed",message="spec.seed cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.drawFaults) == has(oldSelf.spec.drawFaults) && (!has(self.spec.drawFaults) || self.spec.drawFaults == oldSelf.spec.drawFaults))",fieldPath=".spec.drawFaults",message="spec.drawFaults cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.comparisons) == has(oldSelf.spec.comparisons) && (!has(self.spec.comparisons) || self.spec.comparisons == oldSelf.spec.comparisons))",fieldPath=".spec.comparisons",message="spec.comparisons cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.expectations) == has(oldSelf.spec.expectations) && (!has(self.spec.expectations) || self.spec.expectations == oldSelf.spec.expectations))",fieldPath=".spec.expectations",message="spec.expectations cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.reference) == has(oldSelf.spec.reference) && (!has(self.spec.reference) || self.spec.reference == oldSelf.spec.reference))",fieldPath=".spec.reference",message="spec.reference cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.retries == oldSelf.spec.retries",fieldPath=".spec.retries",message="spec.retries cannot be changed once the suite has started: create another suite instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || !oldSelf.spec.?abort.orValue(false) || self.spec.?abort.orValue(false)",fieldPath=".spec.abort",message="spec.abort cannot be taken back once the suite has started: create another suite instead"
type ReplicationSuite struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run how often, and what to find out.
	// +required
	Spec ReplicationSuiteSpec `json:"spec"`
	// status is the result of the trials.
	// +optional
	Status ReplicationSuiteStatus `json:"status,omitempty"`
}

// ReplicationSuiteList is a list of suites.
// +kubebuilder:object:root=true
type ReplicationSuiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReplicationSuite `json:"items"`
}

// ReplicationSuiteSpec is the suite as a person describes it.
type ReplicationSuiteSpec struct {
	// template is what all variants have in common.
	// +required
	Template SuiteTemplate `json:"template"`
	// variants are run equally often.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Variants []SuiteVariant `json:"variants"`
	// trials of each variant. The number is fixed before the first trial runs.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Trials int32 `json:"trials"`
	// order of the trials.
	// +optional
	// +kubebuilder:default=Interleaved
	Order SuiteOrder `json:"order,omitempty"`
	// seed of the order and of drawn faults. The same seed gives the same trials.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Seed int64 `json:"seed"`
	// drawFaults draws the faults of each round by chance, in place of spec.faults. All variants of a round have the same faults.
	// +optional
	DrawFaults *DrawFaults `json:"drawFaults,omitempty"`
	// comparisons of variants, by rounds.
	// +optional
	// +listType=map
	// +listMapKey=of
	// +listMapKey=to
	// +kubebuilder:validation:MaxItems=32
	Comparisons []SuiteComparison `json:"comparisons,omitempty"`
	// expectations decide between Passed and Failed. Without expectations a suite of which each variant could be measured is Passed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Expectations []Expectation `json:"expectations,omitempty"`
	// reference are published figures to show beside the measured ones. They decide nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Reference []ReferenceFigure `json:"reference,omitempty"`
	// retries of Inconclusive trials, in all. They are counted.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Retries int32 `json:"retries"`
	// keepTrials: how many trials keep their databases, the worst first. These run on beside later trials, so 0 disturbs least.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	KeepTrials int32 `json:"keepTrials"`
	// suspend starts no further trial. The trial that runs goes on.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// abort ends the suite now, with its running trial. After the start it cannot be unset.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// ttlSecondsAfterFinished is how long a finished suite stays. Then it is deleted with its trials. Absent: until it is deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int64 `json:"ttlSecondsAfterFinished,omitempty"`
}

// SuiteTemplate has the spec of an experiment.
type SuiteTemplate struct {
	// spec of a ReplicationExperiment, without keep, suspend, abort and ttlSecondsAfterFinished. The operator checks the spec of each variant
	// before the first trial.
	// +required
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec runtime.RawExtension `json:"spec"`
}

// SuiteVariant is the template with a change.
type SuiteVariant struct {
	// name of the variant. Its trials have it in their names.
	// +required
	// +kubebuilder:validation:MaxLength=28
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// patch is a JSON merge patch of template.spec: null removes a field, a list replaces a list. Absent: the template as it is.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Patch *runtime.RawExtension `json:"patch,omitempty"`
}

// SuiteOrder is the order of trials.
// +kubebuilder:validation:Enum=Interleaved;Sequential
type SuiteOrder string

// Orders of trials.
const (
	// OrderInterleaved runs each variant once in every round, in random order. A drift of the machine then favours no variant.
	OrderInterleaved SuiteOrder = "Interleaved"
	// OrderSequential runs all trials of a variant, then those of the next.
	OrderSequential SuiteOrder = "Sequential"
)

// DrawFaults says how faults are drawn. The last stage of the load becomes as long as the faults and the rest after them need.
type DrawFaults struct {
	// count of faults in a trial, one after the other.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Count int32 `json:"count,omitempty"`
	// actions of which each fault has one.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Actions []DrawnAction `json:"actions"`
	// nodes is how many nodes a fault hits at once, one of these numbers.
	// +optional
	// +listType=set
	// +kubebuilder:default={1}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=10
	Nodes []int32 `json:"nodes,omitempty"`
	// partitionFrom is whom a drawn Partition cuts its nodes off from, one of these.
	// +optional
	// +listType=set
	// +kubebuilder:default={Everyone}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	PartitionFrom []DrawnSide `json:"partitionFrom,omitempty"`
	// duringPartitionSeconds draws a partition for each fault, which comes this long after its beginning or up to 10 s later. Absent: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	DuringPartitionSeconds *int64 `json:"duringPartitionSeconds,omitempty"`
	// minSeconds is how long a fault holds at least.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	MinSeconds int64 `json:"minSeconds,omitempty"`
	// maxSeconds is how long a fault holds at most.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	MaxSeconds int64 `json:"maxSeconds,omitempty"`
	// restSeconds lie between the end of a fault and the next fault, or the end of the load.
	// +optional
	// +kubebuilder:default=15
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	RestSeconds int64 `json:"restSeconds,omitempty"`
}

// DrawnAction is a fault's action that can be drawn.
// +kubebuilder:validation:Enum=Kill;KillServer;Pause;Partition
type DrawnAction string

// DrawnSide is whom a drawn partition may cut its nodes off from.
// +kubebuilder:validation:Enum=Peers;Clients;Everyone;Store
type DrawnSide string

// SuiteComparison compares a variant with another.
type SuiteComparison struct {
	// of is the variant that is compared.
	// +required
	// +kubebuilder:validation:MaxLength=28
	Of string `json:"of"`
	// to is the variant that it is compared with: equal figures are 100 percent.
	// +required
	// +kubebuilder:validation:MaxLength=28
	To string `json:"to"`
	// metrics that are compared, of the whole load, each stage that counts, and each item of a list.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Metrics []SuiteMetric `json:"metrics"`
}

// SuiteMetric names a figure, as in goals. Suites take every figure of a run.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
type SuiteMetric string

// Expectation is what a person expects of a variant or of a comparison.
type Expectation struct {
	// variant whose trials are judged. Exactly one of variant and comparison is set.
	// +optional
	// +kubebuilder:validation:MaxLength=28
	Variant string `json:"variant,omitempty"`
	// comparison that is judged, as of/to.
	// +optional
	// +kubebuilder:validation:MaxLength=60
	Comparison string `json:"comparison,omitempty"`
	// metric that is judged.
	// +required
	Metric SuiteMetric `json:"metric"`
	// stage of the load. Absent: the whole load.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Stage string `json:"stage,omitempty"`
	// item of the list that the metric is in, without the trial's name: db-0, app, db-1 to db-0.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Item string `json:"item,omitempty"`
	// max is the largest value of a trial that meets the expectation.
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	Max *int64 `json:"max,omitempty"`
	// min is the smallest value of a trial that meets the expectation.
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	Min *int64 `json:"min,omitempty"`
	// inAtLeastTrials is how many trials of the variant have to meet max and min. Absent: all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	InAtLeastTrials *int32 `json:"inAtLeastTrials,omitempty"`
	// maxPercent is the largest ratio that meets the expectation. The whole interval of the comparison must be at or below.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPercent *int64 `json:"maxPercent,omitempty"`
	// minPercent is the smallest ratio that meets the expectation. The whole interval of the comparison must be at or above.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MinPercent *int64 `json:"minPercent,omitempty"`
}

// ReferenceFigure is a published figure.
type ReferenceFigure struct {
	// variant that it is about.
	// +required
	// +kubebuilder:validation:MaxLength=28
	Variant string `json:"variant"`
	// stage of the load. Absent: the whole load.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Stage string `json:"stage,omitempty"`
	// item of the list that the metric is in, without the trial's name: db-0, app, db-1 to db-0.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Item string `json:"item,omitempty"`
	// metric that it is of.
	// +required
	Metric SuiteMetric `json:"metric"`
	// value in the unit of the metric.
	// +required
	Value Decimal `json:"value"`
	// source of the value.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Source string `json:"source"`
}

// RoundsFewest is how many rounds or trials an interval needs: five signs are alike in 2 of 32 cases by chance.
const RoundsFewest = 6

// Decimal is a number that need not be whole, as text.
// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}(\.[0-9]{1,6})?$`
// +kubebuilder:validation:MaxLength=26
type Decimal string
