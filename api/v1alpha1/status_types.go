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
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// startTime is when the experiment was accepted; from then on the spec is fixed.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// loadStartTime is when the witness saw the first request of the load: faults count from here.
	// +optional
	LoadStartTime *metav1.MicroTime `json:"loadStartTime,omitempty"`
	// progress of the step under way.
	// +optional
	Progress *ProgressStatus `json:"progress,omitempty"`
	// rest tells whether the nodes had come to rest when they were audited.
	// +optional
	Rest *RestStatus `json:"rest,omitempty"`
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
	// +kubebuilder:validation:MaxItems=256
	Reasons []string `json:"reasons,omitempty"`
	// goals with what was measured.
	// +optional
	// +listType=map
	// +listMapKey=metric
	// +kubebuilder:validation:MaxItems=16
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
	// +kubebuilder:validation:MaxItems=160
	Faults []FaultStatus `json:"faults,omitempty"`
	// outageMilliseconds is the longest of the faults' outages; without a fault the longest time under load without an
	// acknowledged write. Absent when the availability probe was off.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// outageUncertaintyMilliseconds by which it may have been shorter: see faults[].outageUncertaintyMilliseconds.
	// +optional
	OutageUncertaintyMilliseconds *int64 `json:"outageUncertaintyMilliseconds,omitempty"`
	// failover tells of the longest outage after a fault in which another node took over, with its phases.
	// +optional
	Failover *FailoverStatus `json:"failover,omitempty"`
	// nodes of the database.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Nodes []NodeStatus `json:"nodes,omitempty"`
	// comparison with the baseline.
	// +optional
	Comparison *ComparisonStatus `json:"comparison,omitempty"`
	// images that the run was started with: an operator that is upgraded in the middle of it goes on with these.
	// +optional
	Images *ImagesStatus `json:"images,omitempty"`
	// scriptHash is the SHA-256 of the user's own k6 script when the load was started, by which it is compared. Absent without one.
	// +optional
	ScriptHash string `json:"scriptHash,omitempty"`
	// versions of what measured and was measured; the results document has each container's image with its digest, and the machines.
	// +optional
	Versions *VersionsStatus `json:"versions,omitempty"`
	// results is the ConfigMap with the full document, the timeline included.
	// +optional
	Results string `json:"results,omitempty"`
}

// ImagesStatus are the images of a run, from the spec or else from the operator's catalogue.
type ImagesStatus struct {
	// replab is the image of the agents, the instruments and the app.
	Replab string `json:"replab"`
	// server is the database server's.
	Server string `json:"server"`
	// proxy is absent where there is none.
	// +optional
	Proxy string `json:"proxy,omitempty"`
	// k6 makes the load.
	K6 string `json:"k6"`
	// pullPolicy of all of them.
	// +optional
	PullPolicy string `json:"pullPolicy,omitempty"`
}

// VersionsStatus are the versions of what measured and was measured, as each tells of itself.
type VersionsStatus struct {
	// operator that judged.
	Operator string `json:"operator"`
	// server that was measured; several, with a comma between them, when the nodes ran different ones.
	// +optional
	Server string `json:"server,omitempty"`
	// k6 that made the load, absent when its requests did not name it.
	// +optional
	K6 string `json:"k6,omitempty"`
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

// ProgressStatus is how far a step has come that takes more than one look. Each step begins without one.
type ProgressStatus struct {
	// milestone of the step that is behind, and is not gone back to.
	// +optional
	Milestone Milestone `json:"milestone,omitempty"`
	// milestoneTime is when it was reached.
	// +optional
	MilestoneTime *metav1.MicroTime `json:"milestoneTime,omitempty"`
	// awaited is whom the step waits for, and will not for ever.
	// +optional
	Awaited Awaited `json:"awaited,omitempty"`
	// awaitedTime is since when.
	// +optional
	AwaitedTime *metav1.MicroTime `json:"awaitedTime,omitempty"`
}

// Milestone within a step.
// +kubebuilder:validation:Enum=Applied;LoadIntended;LoadBegun;LedgerClosed;Counted;Halted;Salvaged
type Milestone string

// Milestones, with their steps.
const (
	MilestoneApplied      Milestone = "Applied"      // Deployed: every object is made, and none is made again
	MilestoneLoadIntended Milestone = "LoadIntended" // LoadStarted: k6 may exist from here on
	MilestoneLoadBegun    Milestone = "LoadBegun"    // LoadStarted: every k6 pod was told to begin
	MilestoneLedgerClosed Milestone = "LedgerClosed" // Settled: the probes have ended, no write follows
	MilestoneCounted      Milestone = "Counted"      // Audited: the writes are counted, held and old nodes may come back
	MilestoneHalted       Milestone = "Halted"       // CleanedUp: nothing of the run is under way any more
	MilestoneSalvaged     Milestone = "Salvaged"     // CleanedUp: what was measured before the run was ended is kept
)

// Awaited is whom a step waits for.
// +kubebuilder:validation:Enum=Predecessor;Replicas;LoadPods;FirstRequest;Witness;Topology;Removal
type Awaited string

// What steps wait for, and lose patience with.
const (
	AwaitedPredecessor  Awaited = "Predecessor"  // the objects of an earlier experiment of this name go
	AwaitedReplicas     Awaited = "Replicas"     // the replicas apply the data set
	AwaitedLoadPods     Awaited = "LoadPods"     // the k6 pods get ready
	AwaitedFirstRequest Awaited = "FirstRequest" // the witness sees a request
	AwaitedWitness      Awaited = "Witness"      // the witness answers
	AwaitedTopology     Awaited = "Topology"     // the topology tells its nodes' roles
	AwaitedRemoval      Awaited = "Removal"      // the objects go
)

// RestStatus tells whether the nodes had come to rest when they were audited: there was a primary, and each node that no fault still
// held had applied everything or was isolated.
type RestStatus struct {
	// atRest is True when they had, and False when they were audited without.
	AtRest metav1.ConditionStatus `json:"atRest"`
	// note says who had not, and why.
	// +optional
	Note string `json:"note,omitempty"`
}

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
	// role of the node when it was chosen. The node is hit only if it still fits the fault's target when its time has come.
	// +optional
	Role NodeRole `json:"role,omitempty"`
	// plannedTime is the start of the load plus atSeconds. A fault that comes more than 10 s later, or in a later stage, is not
	// the one that was planned: the verdict is Inconclusive.
	PlannedTime metav1.MicroTime `json:"plannedTime"`
	// injectedTime is when it was done, by the clock of the node's agent; that of a DeletePod by the operator's.
	// +optional
	InjectedTime *metav1.MicroTime `json:"injectedTime,omitempty"`
	// clock is by how much the clock of injectedTime differed from the witness's, by which all figures are. Absent when it
	// could not be measured.
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`
	// state is how far it has come.
	State FaultState `json:"state"`
	// silentTime is since when the fault has been due and could not be carried out, because the node's agent or the topology
	// does not answer. Absent while they do.
	// +optional
	SilentTime *metav1.MicroTime `json:"silentTime,omitempty"`
	// confirmed is True when the effect was seen and lasted as long as it was to, False when it was not or did not, Unknown
	// until then.
	Confirmed metav1.ConditionStatus `json:"confirmed"`
	// evidence of it, or why there is none.
	// +optional
	Evidence string `json:"evidence,omitempty"`
	// releasedTime is when the hold ended.
	// +optional
	ReleasedTime *metav1.MicroTime `json:"releasedTime,omitempty"`
	// outageMilliseconds is the longest time without an acknowledged write that ended after this fault and before the next one,
	// or began before the end of the load: by the witness's clock, whether writes failed in it or not. Where one had not ended
	// when the next fault came it counts until then, and for that fault whole. Faults of the same moment share it.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// outageUncertaintyMilliseconds by which the outage may have been shorter: the witness itself did not run in it, or clocks
	// differ, so that it may have been before the fault or after the next. Absent below a twentieth of the outage.
	// +optional
	OutageUncertaintyMilliseconds *int64 `json:"outageUncertaintyMilliseconds,omitempty"`
	// lossWindowMilliseconds from the first lost write that was acknowledged after the fault before this one, to this fault.
	// Absent when none was lost, and when the times cannot tell.
	// +optional
	LossWindowMilliseconds *int64 `json:"lossWindowMilliseconds,omitempty"`
}

// FaultState is how far a fault has come on one pod.
// +kubebuilder:validation:Enum=Planned;Deleting;Injected;Confirmed;Released;Unconfirmed;EndedEarly
type FaultState string

// States of faults.
const (
	// FaultPlanned: the target is written down; the operator does not know of anything that was done to it.
	FaultPlanned FaultState = "Planned"
	// FaultDeleting: the pod is about to be deleted, or was when nobody could write it down any more.
	FaultDeleting FaultState = "Deleting"
	// FaultInjected: it is done; its effect is awaited.
	FaultInjected FaultState = "Injected"
	// FaultConfirmed: its effect was seen. It may still hold.
	FaultConfirmed FaultState = "Confirmed"
	// FaultReleased: its effect was seen, and it has held for as long as it was to.
	FaultReleased FaultState = "Released"
	// FaultUnconfirmed: it was not injected, or its effect was not seen, or when it ended is not known.
	FaultUnconfirmed FaultState = "Unconfirmed"
	// FaultEndedEarly: its effect was seen, but it did not hold for as long as it was to.
	FaultEndedEarly FaultState = "EndedEarly"
)

// ClockStatus bounds how far a clock was ahead of the witness's; below 0 it was behind.
type ClockStatus struct {
	// leastAheadMicroseconds it was ahead at least.
	LeastAheadMicroseconds int64 `json:"leastAheadMicroseconds"`
	// mostAheadMicroseconds it was ahead at most.
	MostAheadMicroseconds int64 `json:"mostAheadMicroseconds"`
}

// FailoverStatus is the longest outage after a fault in which another node took over, by the witness's clock.
type FailoverStatus struct {
	// fault after which it was.
	// +optional
	Fault string `json:"fault,omitempty"`
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
	// outageMilliseconds between the two acknowledgements. Another outage, in which the same node went on, may have been longer:
	// that is status.outageMilliseconds.
	// +optional
	OutageMilliseconds *int64 `json:"outageMilliseconds,omitempty"`
	// clock of the manager, by how much it differed from the witness's. Absent when it could not be measured.
	// +optional
	Clock *ClockStatus `json:"clock,omitempty"`
	// detectionMilliseconds from the last acknowledgement to the detection. It rests on two clocks: the manager's is taken to
	// be ahead by the middle of its bounds.
	// +optional
	DetectionMilliseconds *int64 `json:"detectionMilliseconds,omitempty"`
	// promotionMilliseconds from the detection to the promotion, by the manager's clock.
	// +optional
	PromotionMilliseconds *int64 `json:"promotionMilliseconds,omitempty"`
	// routingMilliseconds from the promotion to the first new acknowledgement, on two clocks as detectionMilliseconds.
	// +optional
	RoutingMilliseconds *int64 `json:"routingMilliseconds,omitempty"`
	// phaseUncertaintyMicroseconds by which detectionMilliseconds and routingMilliseconds may be off either way, since they
	// rest on two clocks: half of what the bounds of clock leave open.
	// +optional
	PhaseUncertaintyMicroseconds *int64 `json:"phaseUncertaintyMicroseconds,omitempty"`
}

// NodeStatus is one database node.
type NodeStatus struct {
	// name of the node's pod.
	Name string `json:"name"`
	// role after the load had settled.
	// +optional
	Role NodeRole `json:"role,omitempty"`
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
	// p99Percent more than the baseline; absent when either p99 is a lower bound.
	// +optional
	P99Percent *int64 `json:"p99Percent,omitempty"`
	// note says how far the comparison may be trusted, or why there is none.
	// +optional
	Note string `json:"note,omitempty"`
}
