package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicationExperimentStatus is the result of an experiment. A figure that was not measured is absent, never 0.
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
	// loadStartTime is when the recorder saw the first request of the load: faults count from here.
	// +optional
	LoadStartTime *metav1.MicroTime `json:"loadStartTime,omitempty"`
	// progress of the step under way.
	// +optional
	Progress *ProgressStatus `json:"progress,omitempty"`
	// rest says whether the nodes had come to rest when they were audited.
	// +optional
	Rest *RestStatus `json:"rest,omitempty"`
	// distance between the nodes, absent without topology.links.
	// +optional
	Distance *DistanceStatus `json:"distance,omitempty"`
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
	// reasons are the cause of the verdict.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Reasons []string `json:"reasons,omitempty"`
	// notes state limits of figures, and findings weaker than the verdict's cause. They do not change the verdict.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Notes []string `json:"notes,omitempty"`
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
	// ghostWrites are distinct rows that old primaries have and the primary has not.
	// +optional
	GhostWrites *int64 `json:"ghostWrites,omitempty"`
	// replication is the lag, what semi-synchronous replication could not keep, and what the members of a group counted.
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
	// failover tells of the longest outage after a fault in which another node took over, with its phases.
	// +optional
	Failover *FailoverStatus `json:"failover,omitempty"`
	// restartsInPlace are the times at which a primary whose server was lost became primary again during the load: an outage, no failover.
	// Only Patroni and PostgreSQL's Single and Async have them, at most the first 160.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=160
	RestartsInPlace []RestartInPlaceStatus `json:"restartsInPlace,omitempty"`
	// nodes of the database.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Nodes []NodeStatus `json:"nodes,omitempty"`
	// columns are the figures that lists of runs show, in words, by their names: ≥500ms of an outage of which the end was not seen.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Columns map[string]string `json:"columns,omitempty"`
	// bounds of the figures that are not exact, and why figures are absent.
	// +optional
	// +listType=map
	// +listMapKey=figure
	// +kubebuilder:validation:MaxItems=2048
	Bounds []BoundStatus `json:"bounds,omitempty"`
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
