package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicationExperimentStatus is what came of an experiment. A figure that was not measured is absent, never 0.
type ReplicationExperimentStatus struct {
	// observedGeneration of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase sums the conditions up for people; nothing reads it back.
	// +optional
	Phase string `json:"phase,omitempty"`
	// conditions are the steps of the run, Complete and Passed.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// startTime is when the experiment was accepted; from then on the spec is fixed.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// loadStartTime is when the witness saw the first request of the load: faults count from here.
	// +optional
	LoadStartTime *metav1.MicroTime `json:"loadStartTime,omitempty"`
	// completionTime is when it was over.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// planHash identifies the objects that were deployed.
	// +optional
	PlanHash string `json:"planHash,omitempty"`
	// verdict is Passed, Failed (a goal was not met: a finding), Inconclusive (something could not be measured) or Invalid
	// (the figures contradict each other).
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// reasons say why the verdict is what it is, and what to know when reading the figures.
	// +optional
	// +listType=atomic
	Reasons []string `json:"reasons,omitempty"`
	// goals with what was measured.
	// +optional
	// +listType=map
	// +listMapKey=metric
	Goals []GoalStatus `json:"goals,omitempty"`
	// load as the clients saw it.
	// +optional
	Load *LoadStatus `json:"load,omitempty"`
	// writes are the exact sets of the ledger against the tables.
	// +optional
	Writes *WritesStatus `json:"writes,omitempty"`
	// ghostWrites are rows that only an old primary has; the sum over the nodes.
	// +optional
	GhostWrites *int64 `json:"ghostWrites,omitempty"`
	// replication is the lag, and what semi-synchronous replication could not keep.
	// +optional
	Replication *ReplicationStatus `json:"replication,omitempty"`
	// faults as they were injected.
	// +optional
	// +listType=map
	// +listMapKey=name
	Faults []FaultStatus `json:"faults,omitempty"`
	// failover is the outage as the clients saw it, with its phases.
	// +optional
	Failover *FailoverStatus `json:"failover,omitempty"`
	// nodes of the database.
	// +optional
	// +listType=map
	// +listMapKey=name
	Nodes []NodeStatus `json:"nodes,omitempty"`
	// comparison with the baseline.
	// +optional
	Comparison *ComparisonStatus `json:"comparison,omitempty"`
	// results is the ConfigMap with the full document, the timeline included.
	// +optional
	Results string `json:"results,omitempty"`
}

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
	// met is True, False or Unknown.
	Met metav1.ConditionStatus `json:"met"`
}

// LoadStatus are the figures of all stages that are not discarded.
type LoadStatus struct {
	StageFigures `json:",inline"`
	// droppedIterations that k6 could not start in time: the latency then is a lower bound.
	// +optional
	DroppedIterations *int64 `json:"droppedIterations,omitempty"`
	// staleReads are profiles that a client was told exist and that a read then did not find.
	// +optional
	StaleReads *int64 `json:"staleReads,omitempty"`
	// stages one by one.
	// +optional
	// +listType=map
	// +listMapKey=name
	Stages []StageStatus `json:"stages,omitempty"`
}

// StageFigures are requests over a time with their latency.
type StageFigures struct {
	// requests that arrived at the witness.
	Requests int64 `json:"requests"`
	// failures are answers that were not 2xx, and requests without an answer.
	Failures int64 `json:"failures"`
	// durationMilliseconds from the first arrival to the last answer.
	DurationMilliseconds int64 `json:"durationMilliseconds"`
	// requestsPerSecond, rounded.
	// +optional
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// latency of the requests.
	// +optional
	Latency *LatencyStatus `json:"latency,omitempty"`
}

// LatencyStatus is read off an HdrHistogram with 3 significant digits.
type LatencyStatus struct {
	// meanMicroseconds is the mean.
	MeanMicroseconds int64 `json:"meanMicroseconds"`
	// p50Microseconds is the median.
	P50Microseconds int64 `json:"p50Microseconds"`
	// p95Microseconds is the 95th percentile.
	P95Microseconds int64 `json:"p95Microseconds"`
	// p99Microseconds is the 99th percentile.
	P99Microseconds int64 `json:"p99Microseconds"`
	// maxMicroseconds is the longest.
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// StageStatus are the figures of one stage.
type StageStatus struct {
	// name of the stage.
	Name         string `json:"name"`
	StageFigures `json:",inline"`
	// closedLoopPermille is throughput times mean duration over users, in thousandths, as k6 saw them: 1000 by Little's law when the
	// figures are sound. Absent for open loops.
	// +optional
	ClosedLoopPermille *int64 `json:"closedLoopPermille,omitempty"`
}

// WritesStatus are sets of writes: sent = acknowledged + rejected + indeterminate;
// present = acknowledged - lost + recovered + unexpected.
type WritesStatus struct {
	// sent to the app.
	Sent int64 `json:"sent"`
	// acknowledged to the client.
	Acknowledged int64 `json:"acknowledged"`
	// rejected: the database certainly did not commit.
	Rejected int64 `json:"rejected"`
	// indeterminate: nobody can know from the answer.
	Indeterminate int64 `json:"indeterminate"`
	// present on the surviving primary.
	// +optional
	Present *int64 `json:"present,omitempty"`
	// lost: acknowledged and not present.
	// +optional
	Lost *int64 `json:"lost,omitempty"`
	// recovered: indeterminate and present.
	// +optional
	Recovered *int64 `json:"recovered,omitempty"`
	// vanished: indeterminate and not present.
	// +optional
	Vanished *int64 `json:"vanished,omitempty"`
	// duplicates: present more than once; must be 0.
	// +optional
	Duplicates *int64 `json:"duplicates,omitempty"`
	// unexpected: present though rejected or never sent; must be 0.
	// +optional
	Unexpected *int64 `json:"unexpected,omitempty"`
	// balanced tells whether the sets add up: True or False.
	// +optional
	Balanced metav1.ConditionStatus `json:"balanced,omitempty"`
	// lossWindowMilliseconds before the fault from which acknowledged writes were lost.
	// +optional
	LossWindowMilliseconds *int64 `json:"lossWindowMilliseconds,omitempty"`
}

// ReplicationStatus is the lag, and what semi-synchronous replication could not keep.
type ReplicationStatus struct {
	// lag over all nodes.
	// +optional
	Lag *LagStatus `json:"lag,omitempty"`
	// unacknowledgedCommits were committed after the semi-synchronous timeout, as asynchronous replication does: degraded.
	// A primary that died may have had more in its last second.
	// +optional
	UnacknowledgedCommits *int64 `json:"unacknowledgedCommits,omitempty"`
}

// LagStatus is a distribution of the time from a write's acknowledgement to its being seen on a node.
type LagStatus struct {
	// samples measured.
	Samples int64 `json:"samples"`
	// censored samples: the first read already saw the row.
	Censored int64 `json:"censored"`
	// unseen writes: the node had not shown them when the probe ended.
	Unseen int64 `json:"unseen"`
	// p50Microseconds is the median.
	// +optional
	P50Microseconds *int64 `json:"p50Microseconds,omitempty"`
	// p99Microseconds is the 99th percentile.
	// +optional
	P99Microseconds *int64 `json:"p99Microseconds,omitempty"`
	// maxMicroseconds is the longest.
	// +optional
	MaxMicroseconds *int64 `json:"maxMicroseconds,omitempty"`
	// bracketP50Microseconds is the median uncertainty of a sample.
	// +optional
	BracketP50Microseconds *int64 `json:"bracketP50Microseconds,omitempty"`
}

// FaultStatus is one injection of a fault into one pod. Its intent is written before it is injected.
type FaultStatus struct {
	// name of the fault; a fault on several nodes has one entry per node: name, then name.2 and so on.
	Name string `json:"name"`
	// fault is the name of the fault in the spec.
	Fault string `json:"fault"`
	// pod that it hits.
	Pod string `json:"pod"`
	// podUID that it hits; another pod under the same name is never hit instead.
	PodUID string `json:"podUID"`
	// role of the node when it was chosen.
	// +optional
	Role string `json:"role,omitempty"`
	// plannedTime is the start of the load plus atSeconds.
	PlannedTime metav1.MicroTime `json:"plannedTime"`
	// injectedTime is when it was done, by the clock of the node's agent.
	// +optional
	InjectedTime *metav1.MicroTime `json:"injectedTime,omitempty"`
	// confirmed is True when the effect was seen, False when it was not, Unknown until then.
	Confirmed metav1.ConditionStatus `json:"confirmed"`
	// evidence of it, or why there is none.
	// +optional
	Evidence string `json:"evidence,omitempty"`
	// releasedTime is when the hold ended.
	// +optional
	ReleasedTime *metav1.MicroTime `json:"releasedTime,omitempty"`
}

// FailoverStatus is the outage around the first fault, by the witness's clock.
type FailoverStatus struct {
	// oldPrimary before it.
	// +optional
	OldPrimary string `json:"oldPrimary,omitempty"`
	// newPrimary after it.
	// +optional
	NewPrimary string `json:"newPrimary,omitempty"`
	// lastOldAcknowledgement is the last write that the old primary acknowledged to a client.
	// +optional
	LastOldAcknowledgement *metav1.MicroTime `json:"lastOldAcknowledgement,omitempty"`
	// firstError that a client saw.
	// +optional
	FirstError *metav1.MicroTime `json:"firstError,omitempty"`
	// detectedTime is when the topology's own manager took the primary for failed, by its clock.
	// +optional
	DetectedTime *metav1.MicroTime `json:"detectedTime,omitempty"`
	// promotedTime is when the new primary was opened, by the manager's clock.
	// +optional
	PromotedTime *metav1.MicroTime `json:"promotedTime,omitempty"`
	// firstNewAcknowledgement is the first write that the new primary acknowledged to a client.
	// +optional
	FirstNewAcknowledgement *metav1.MicroTime `json:"firstNewAcknowledgement,omitempty"`
	// outageMilliseconds between the two acknowledgements.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// detectionMilliseconds from the last acknowledgement to detectedTime.
	// +optional
	DetectionMilliseconds *int64 `json:"detectionMilliseconds,omitempty"`
	// promotionMilliseconds from detectedTime to promotedTime.
	// +optional
	PromotionMilliseconds *int64 `json:"promotionMilliseconds,omitempty"`
	// routingMilliseconds from promotedTime to the first new acknowledgement.
	// +optional
	RoutingMilliseconds *int64 `json:"routingMilliseconds,omitempty"`
}

// NodeStatus is one database node.
type NodeStatus struct {
	// name of the node's pod.
	Name string `json:"name"`
	// role after the load had settled: primary, replica, isolated or down.
	// +optional
	Role string `json:"role,omitempty"`
	// rows of the users table.
	// +optional
	Rows *int64 `json:"rows,omitempty"`
	// missing writes that the primary has.
	// +optional
	Missing *int64 `json:"missing,omitempty"`
	// ghostWrites are rows that only this node has.
	// +optional
	GhostWrites *int64 `json:"ghostWrites,omitempty"`
	// ghostTransactions that only this node has, by the engine's own account; the probes' writes are among them.
	// +optional
	GhostTransactions *int64 `json:"ghostTransactions,omitempty"`
	// rejoined is True when the node was rebuilt as a replica after its ghosts were counted.
	// +optional
	Rejoined metav1.ConditionStatus `json:"rejoined,omitempty"`
	// lag of this node.
	// +optional
	Lag *LagStatus `json:"lag,omitempty"`
	// resources that its server used in the stages that are not discarded.
	// +optional
	Resources *ResourceFigures `json:"resources,omitempty"`
	// note says why a figure is absent.
	// +optional
	Note string `json:"note,omitempty"`
}

// ResourceFigures are what a server used.
type ResourceFigures struct {
	// cpuMillicores on average.
	CPUMillicores int64 `json:"cpuMillicores"`
	// memoryPeakBytes resident.
	MemoryPeakBytes int64 `json:"memoryPeakBytes"`
	// blockReadBytes from disk.
	BlockReadBytes int64 `json:"blockReadBytes"`
	// blockWrittenBytes to disk.
	BlockWrittenBytes int64 `json:"blockWrittenBytes"`
	// networkReceivedBytes by the pod.
	NetworkReceivedBytes int64 `json:"networkReceivedBytes"`
	// networkSentBytes by the pod.
	NetworkSentBytes int64 `json:"networkSentBytes"`
}

// ComparisonStatus states differences from the baseline, in percent of the baseline. One pair is an anecdote: no interval.
type ComparisonStatus struct {
	// baseline experiment.
	Baseline string `json:"baseline"`
	// requestsPerSecondPercent more (or, below 0, less) than the baseline.
	// +optional
	RequestsPerSecondPercent *int64 `json:"requestsPerSecondPercent,omitempty"`
	// p99Percent more than the baseline.
	// +optional
	P99Percent *int64 `json:"p99Percent,omitempty"`
	// note says why there is no comparison.
	// +optional
	Note string `json:"note,omitempty"`
}
