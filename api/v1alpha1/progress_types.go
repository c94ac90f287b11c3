package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// +kubebuilder:validation:Enum=Applied;LoadIntended;LoadBegun;LinksMeasured;LedgerClosed;Counted;Halted;Salvaged
type Milestone string

// Milestones, with their steps.
const (
	MilestoneApplied       Milestone = "Applied"       // Deployed: every object is made, and none is made again
	MilestoneLoadIntended  Milestone = "LoadIntended"  // LoadStarted: k6 may exist from here on
	MilestoneLoadBegun     Milestone = "LoadBegun"     // LoadStarted: every k6 pod was told to begin
	MilestoneLinksMeasured Milestone = "LinksMeasured" // Settled: what came of the links is written down, and they may be ended
	MilestoneLedgerClosed  Milestone = "LedgerClosed"  // Settled: the probes have ended, no write follows
	MilestoneCounted       Milestone = "Counted"       // Audited: the writes are counted, held and old nodes may come back
	MilestoneHalted        Milestone = "Halted"        // CleanedUp: nothing of the run is under way any more
	MilestoneSalvaged      Milestone = "Salvaged"      // CleanedUp: what was measured before the run was ended is kept
)

// Awaited is whom a step waits for.
// +kubebuilder:validation:Enum=Predecessor;Replicas;Links;LoadPods;FirstRequest;Recorder;Topology;Removal;Admission
type Awaited string

// What steps wait for, and lose patience with.
const (
	AwaitedPredecessor  Awaited = "Predecessor"  // the objects of an earlier experiment of this name go
	AwaitedReplicas     Awaited = "Replicas"     // the replicas apply the data set
	AwaitedLinks        Awaited = "Links"        // the agents set links, or measure round trips
	AwaitedLoadPods     Awaited = "LoadPods"     // the k6 pods get ready
	AwaitedFirstRequest Awaited = "FirstRequest" // the recorder sees a request
	AwaitedRecorder     Awaited = "Recorder"     // the recorder answers
	AwaitedTopology     Awaited = "Topology"     // the topology tells its nodes' roles
	AwaitedRemoval      Awaited = "Removal"      // the objects go
	AwaitedAdmission    Awaited = "Admission"    // the API server takes an object that it refuses
)

// RestStatus says whether the nodes had come to rest when they were audited: there was a primary, and each node that no fault still
// held had applied everything or was isolated.
type RestStatus struct {
	// atRest is True when they had, and False when they were audited without.
	AtRest metav1.ConditionStatus `json:"atRest"`
	// note says who had not, and why.
	// +optional
	Note string `json:"note,omitempty"`
	// writers are the nodes that took the writes when all tables had been compared. What was held until then is released after that, and
	// may take them back.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Writers []string `json:"writers,omitempty"`
	// recountFailed says which nodes that came back after the audit were not compared, and why.
	// +optional
	RecountFailed string `json:"recountFailed,omitempty"`
}
