package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadStatus are the figures of all stages that are not discarded.
type LoadStatus struct {
	StageFigures `json:",inline"`
	// staleReads are reads that missed a user whose write was acknowledged before and not lost. The write may be of a discarded stage.
	// +optional
	StaleReads *int64 `json:"staleReads,omitempty"`
	// stages one by one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Stages []StageStatus `json:"stages,omitempty"`
}

// StageFigures are requests over a time with their latency.
type StageFigures struct {
	// requests that arrived at the recorder, failed ones too.
	Requests int64 `json:"requests"`
	// failures are answers that were not 2xx, and requests without an answer.
	Failures int64 `json:"failures"`
	// timeouts are the requests that took longer than load.timeoutMilliseconds, failed ones too. Absent without that setting.
	// +optional
	Timeouts *int64 `json:"timeouts,omitempty"`
	// durationMilliseconds is the time over which requestsPerSecond is computed: from a stage's first arrival for its planned time, or
	// until an earlier end of the load. Several stages count together. Absent without a request.
	// +optional
	DurationMilliseconds *int64 `json:"durationMilliseconds,omitempty"`
	// requestsPerSecond are successful answers within the duration, per second, rounded for people. A later answer is in requests and
	// latency only.
	// +optional
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// requestsPerSecondMilli is requestsPerSecond in thousandths. Goals, comparisons and summaries read it.
	// +optional
	RequestsPerSecondMilli *int64 `json:"requestsPerSecondMilli,omitempty"`
	// droppedIterations that k6 could not start in time: all percentiles of the latency then are lower bounds. Absent when that is
	// not known, as of a stage of your own script.
	// +optional
	DroppedIterations *int64 `json:"droppedIterations,omitempty"`
	// pausedMilliseconds is how long the recorder itself did not run, rounded up. Absent when it always ran. Latencies then have bounds.
	// +optional
	PausedMilliseconds *int64 `json:"pausedMilliseconds,omitempty"`
	// latency of all requests, absent when none succeeded.
	// +optional
	Latency *LatencyStatus `json:"latency,omitempty"`
}

// LatencyStatus is read off an HdrHistogram with 3 significant digits. Percentiles are by nearest rank, of all requests: one that
// failed counts as slower than every one that succeeded. The results document has the latency of those that failed.
type LatencyStatus struct {
	// meanMicroseconds is the mean of the requests that succeeded.
	MeanMicroseconds int64 `json:"meanMicroseconds"`
	// standardDeviationMicroseconds of the requests that succeeded, to 3 digits. Absent in documents of older versions, as the next two.
	// +optional
	StandardDeviationMicroseconds *int64 `json:"standardDeviationMicroseconds,omitempty"`
	// p50Microseconds is the median.
	P50Microseconds int64 `json:"p50Microseconds"`
	// p75Microseconds is the 75th percentile.
	// +optional
	P75Microseconds *int64 `json:"p75Microseconds,omitempty"`
	// p90Microseconds is the 90th percentile.
	// +optional
	P90Microseconds *int64 `json:"p90Microseconds,omitempty"`
	// p95Microseconds is the 95th percentile.
	P95Microseconds int64 `json:"p95Microseconds"`
	// p99Microseconds is the 99th percentile.
	P99Microseconds int64 `json:"p99Microseconds"`
	// maxMicroseconds is the longest.
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// Percentile names a figure of a distribution by its field.
// +kubebuilder:validation:Enum=p50Microseconds;p75Microseconds;p90Microseconds;p95Microseconds;p99Microseconds;maxMicroseconds
type Percentile string

// Percentiles.
const (
	P50 Percentile = "p50Microseconds"
	P75 Percentile = "p75Microseconds"
	P90 Percentile = "p90Microseconds"
	P95 Percentile = "p95Microseconds"
	P99 Percentile = "p99Microseconds"
	Max Percentile = "maxMicroseconds"
)

// StageStatus are the figures of one stage.
type StageStatus struct {
	// name of the stage.
	Name         string `json:"name"`
	StageFigures `json:",inline"`
	// closedLoopPermille checks recorder and k6 by Little's law: answers per second, times k6's mean iteration, over the mean number of
	// users, in thousandths. It is 1000 if users are always busy and both measure correctly. Absent for open loops and your own script.
	// +optional
	ClosedLoopPermille *int64 `json:"closedLoopPermille,omitempty"`
	// closedLoopHolds says whether closedLoopPermille is within 10 of 1000, or below by what the stage's end can have cut off: True or
	// False. Where it is False one of the two measures wrongly: goals on the latency are Unknown, unless the stage is discarded.
	// +optional
	ClosedLoopHolds metav1.ConditionStatus `json:"closedLoopHolds,omitempty"`
	// distance is the throughput against what topology.links allow. Absent without links, for open loops, and where it cannot be had:
	// reasons and notes say why.
	// +optional
	Distance *StageDistance `json:"distance,omitempty"`
	// resources that each node's server and the processes recorder, app, proxy, k6 and director used in this stage. Several pods of the app
	// or of k6 are summed. Those that could not be asked are absent, and k6 of runner K6Operator.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Resources []StageResources `json:"resources,omitempty"`
}

// StageResources are what one node's server, or one process, used in a stage.
type StageResources struct {
	// name of the node, or recorder, app, director, proxy, k6.
	Name            string `json:"name"`
	ResourceFigures `json:",inline"`
	// cpuPerRequestMicroseconds is the processor time over the stage's answered requests, failures too. Absent at rest.
	// +optional
	CPUPerRequestMicroseconds *int64 `json:"cpuPerRequestMicroseconds,omitempty"`
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
	// conflicting are those of the rejected that the server rolled back since they were in the way of another transaction: deadlocks,
	// lock wait timeouts and, in a group, failed certifications and forced aborts. Absent where the recorder was restarted.
	// +optional
	Conflicting *int64 `json:"conflicting,omitempty"`
	// indeterminate: the answer does not say whether they were committed.
	Indeterminate int64 `json:"indeterminate"`
	// present on the surviving primary, or on either node with topology.type DualPrimary.
	// +optional
	Present *int64 `json:"present,omitempty"`
	// lost: acknowledged and not present. Absent when none was found and it is not known that there was something to lose: that
	// writes were acknowledged in the second before each fault, without faults during the load.
	// +optional
	Lost *int64 `json:"lost,omitempty"`
	// lostWhileDegraded is how many of the lost at least were acknowledged within a time in which the primary may have waited for no standby: what
	// asynchronous replication may lose. Absent where none was lost, and where servers do not tell when they wait for none: with
	// topology.type Patroni the notes then say why.
	// +optional
	LostWhileDegraded *int64 `json:"lostWhileDegraded,omitempty"`
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
	// divergentRows are rows that both nodes have and that differ, once each node had applied what the other one sent. Only with topology.type
	// DualPrimary. The results document has samples.
	// +optional
	DivergentRows *int64 `json:"divergentRows,omitempty"`
	// balanced says whether the sets add up: True or False.
	// +optional
	Balanced metav1.ConditionStatus `json:"balanced,omitempty"`
}

// ReplicationStatus is the lag, what semi-synchronous replication could not keep, and what the members of a group counted.
type ReplicationStatus struct {
	// lag over all nodes while they were replicas. An old primary counts again once it shows a write of the new one; a percentile is a
	// lower bound where no replica was watched for a part of the writes.
	// +optional
	Lag *LagStatus `json:"lag,omitempty"`
	// lagSizes are the same writes by the size of their rows, where probes.lag.sweepPayloadBytes has several.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	LagSizes []LagSizeStatus `json:"lagSizes,omitempty"`
	// degradedCommits at least were committed after the semi-synchronous timeout, or while the primary waited for no standby, as
	// asynchronous replication does: degraded. With topology.type Patroni they are transactions that wrote, those that were rolled back included.
	// A primary that died may have had more since its counters were last read, shortly before: the notes say so.
	// +optional
	DegradedCommits *int64 `json:"degradedCommits,omitempty"`
	// degradedMilliseconds is for how long at least, while the load ran, a node that could take writes let commits wait for no standby, by
	// samples. Absent where servers count waits, and where it was not sampled.
	// +optional
	DegradedMilliseconds *int64 `json:"degradedMilliseconds,omitempty"`
	// traffic is what the nodes sent each other by replication, each direction by the node that sent it. Only with topology.type DualPrimary.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Traffic []TrafficStatus `json:"traffic,omitempty"`
	// group is what the servers counted with topology.type Galera: of transactions the sum over the nodes, else the figure of the node
	// that has the highest. Each node's own are in nodes[].group. Absent where the load sent no write.
	// +optional
	Group *GroupFigures `json:"group,omitempty"`
}

// TrafficStatus is what one node's server sent another one's in the stages that are not discarded: changes, requests and acknowledgements.
type TrafficStatus struct {
	// name of the direction: from, " to " and to.
	Name string `json:"name"`
	// from is the node that sent and counted it.
	From string `json:"from"`
	// to is the other node.
	To string `json:"to"`
	// sentBytes of IP packets.
	SentBytes int64 `json:"sentBytes"`
	// sentBytesPerSecond on average, rounded down.
	SentBytesPerSecond int64 `json:"sentBytesPerSecond"`
}

// GroupFigures are what servers counted themselves as members of a group, read once a second. Transactions are counted since the load
// began; what is of the time is of that in which a stage ran that is not discarded.
type GroupFigures struct {
	// certificationFailures are transactions that the group refused at commit, because they conflicted with an earlier one. Absent if a
	// node that took writes was never read. After the death of a server it is a minimum.
	// +optional
	CertificationFailures *int64 `json:"certificationFailures,omitempty"`
	// forcedAborts are transactions that were rolled back while they ran, since the group had committed another one that they were in the
	// way of. Absent as certificationFailures.
	// +optional
	ForcedAborts *int64 `json:"forcedAborts,omitempty"`
	// deadlocks of transactions on one server. Absent as certificationFailures, and where the servers do not count them.
	// +optional
	Deadlocks *int64 `json:"deadlocks,omitempty"`
	// flowControlPausedPermille of the time nothing could be handed to the group, since a member could not keep up: in thousandths,
	// rounded up; where a member was not sampled all the time, at least, rounded down.
	// +optional
	FlowControlPausedPermille *int64 `json:"flowControlPausedPermille,omitempty"`
	// receiveQueueMeanThousandths is the mean of how many transactions a node had received and not begun to apply, in thousandths of one.
	// +optional
	ReceiveQueueMeanThousandths *int64 `json:"receiveQueueMeanThousandths,omitempty"`
	// receiveQueueMax is how many there were at least at a time.
	// +optional
	ReceiveQueueMax *int64 `json:"receiveQueueMax,omitempty"`
}

// LagStatus is the distribution of the time from a write's acknowledgement until a node shows it, for the probe's writes in stages
// that count. A write that was neither seen nor lost has its age at the end as its lag: percentiles at or above it are lower bounds.
// Writes while the node was an old primary that did not follow yet are left out.
type LagStatus struct {
	// samples measured: rows that the node showed.
	Samples int64 `json:"samples"`
	// censored samples: the first read already saw the row.
	Censored int64 `json:"censored"`
	// unseen are further rows: the node had not shown them when the probe ended.
	Unseen int64 `json:"unseen"`
	// lost ones among the unseen: the primary that took over does not have them either.
	// +optional
	Lost int64 `json:"lost,omitempty"`
	// p50Microseconds is the median.
	// +optional
	P50Microseconds *int64 `json:"p50Microseconds,omitempty"`
	// p99Microseconds is the 99th percentile.
	// +optional
	P99Microseconds *int64 `json:"p99Microseconds,omitempty"`
	// maxMicroseconds is the longest.
	// +optional
	MaxMicroseconds *int64 `json:"maxMicroseconds,omitempty"`
	// resolutionP50Microseconds is the median uncertainty of a sample.
	// +optional
	ResolutionP50Microseconds *int64 `json:"resolutionP50Microseconds,omitempty"`
	// oldestUnseenMicroseconds is the age of the oldest unseen write that is not lost, when the probe ended.
	// +optional
	OldestUnseenMicroseconds *int64 `json:"oldestUnseenMicroseconds,omitempty"`
}

// LagSizeStatus is the replication of rows of one size, over all nodes while they were replicas, by the recorder's clock. Percentiles are by nearest
// rank, and those of the times until a row was seen are absent where a node has not shown one.
type LagSizeStatus struct {
	// name is the size in bytes.
	Name string `json:"name"`
	// samples measured: rows of this size that a node showed.
	Samples int64 `json:"samples"`
	// censored samples: the first look already saw the row.
	Censored int64 `json:"censored"`
	// unseen writes: the node had not shown them when the probe ended.
	Unseen int64 `json:"unseen"`
	// insertP50Microseconds from the statement to its acknowledgement, the median.
	// +optional
	InsertP50Microseconds *int64 `json:"insertP50Microseconds,omitempty"`
	// insertP99Microseconds is its 99th percentile.
	// +optional
	InsertP99Microseconds *int64 `json:"insertP99Microseconds,omitempty"`
	// retrievalP50Microseconds is the median time from the start of the last look without the row to the end of the next one.
	// +optional
	RetrievalP50Microseconds *int64 `json:"retrievalP50Microseconds,omitempty"`
	// retrievalP99Microseconds is its 99th percentile.
	// +optional
	RetrievalP99Microseconds *int64 `json:"retrievalP99Microseconds,omitempty"`
	// totalP50Microseconds from the statement to the end of the look that found the row, the median.
	// +optional
	TotalP50Microseconds *int64 `json:"totalP50Microseconds,omitempty"`
	// totalP99Microseconds is its 99th percentile.
	// +optional
	TotalP99Microseconds *int64 `json:"totalP99Microseconds,omitempty"`
	// bareP50Microseconds is the median of the total without insert and retrieval: the row was not there before, but may have come later, by
	// the retrieval at most. Negative: it may have been there before its writer knew.
	// +optional
	BareP50Microseconds *int64 `json:"bareP50Microseconds,omitempty"`
	// bareP99Microseconds is its 99th percentile.
	// +optional
	BareP99Microseconds *int64 `json:"bareP99Microseconds,omitempty"`
}

// BoundStatus is what is known of a figure that is not exact, or absent. Without atLeast and atMost nothing is known of it.
type BoundStatus struct {
	// figure is its path in the status, such as load.stages[steady].latency.p99Microseconds.
	// +kubebuilder:validation:MaxLength=256
	Figure string `json:"figure"`
	// atLeast is the lower bound, in the unit of the figure.
	// +optional
	AtLeast *int64 `json:"atLeast,omitempty"`
	// atMost is the upper bound, in the unit of the figure.
	// +optional
	AtMost *int64 `json:"atMost,omitempty"`
	// because says why it is not exact, or absent.
	// +kubebuilder:validation:MaxLength=512
	Because string `json:"because"`
}
