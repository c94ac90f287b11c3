package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicationExperiment is a controlled experiment on database replication: a topology, a load and faults. The operator
// carries it out once and writes what it cost and what was lost into the status.
//
// The spec cannot be changed once the experiment has started, apart from abort, keep and ttlSecondsAfterFinished.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=replicationexperiments,singular=replicationexperiment,shortName=repx,categories=replab,scope=Namespaced
// +kubebuilder:printcolumn:name="Topology",type=string,JSONPath=`.spec.topology.type`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Requests/s",type=string,JSONPath=`.status.columns.requestsPerSecond`
// +kubebuilder:printcolumn:name="P99",type=string,JSONPath=`.status.columns.p99Microseconds`
// +kubebuilder:printcolumn:name="Lag-P99",type=string,JSONPath=`.status.columns.lagP99Microseconds`
// +kubebuilder:printcolumn:name="Lost",type=string,JSONPath=`.status.columns.lostWrites`
// +kubebuilder:printcolumn:name="Ghosts",type=string,JSONPath=`.status.columns.ghostWrites`
// +kubebuilder:printcolumn:name="Outage",type=string,JSONPath=`.status.columns.outageMilliseconds`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name: every object is named after the experiment. Use at most 40 characters."
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: Services are named after it. Use lower-case letters, digits and '-', a letter first."
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.topology == oldSelf.spec.topology",fieldPath=".spec.topology",message="spec.topology cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.routing == oldSelf.spec.routing",fieldPath=".spec.routing",message="spec.routing cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.app == oldSelf.spec.app",fieldPath=".spec.app",message="spec.app cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.dataset == oldSelf.spec.dataset",fieldPath=".spec.dataset",message="spec.dataset cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.load == oldSelf.spec.load",fieldPath=".spec.load",message="spec.load cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || self.spec.probes == oldSelf.spec.probes",fieldPath=".spec.probes",message="spec.probes cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.faults) == has(oldSelf.spec.faults) && (!has(self.spec.faults) || self.spec.faults == oldSelf.spec.faults))",fieldPath=".spec.faults",message="spec.faults cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.goals) == has(oldSelf.spec.goals) && (!has(self.spec.goals) || self.spec.goals == oldSelf.spec.goals))",fieldPath=".spec.goals",message="spec.goals cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.baseline) == has(oldSelf.spec.baseline) && (!has(self.spec.baseline) || self.spec.baseline == oldSelf.spec.baseline))",fieldPath=".spec.baseline",message="spec.baseline cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.pods) == has(oldSelf.spec.pods) && (!has(self.spec.pods) || self.spec.pods == oldSelf.spec.pods))",fieldPath=".spec.pods",message="spec.pods cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.deadlineSeconds) == has(oldSelf.spec.deadlineSeconds) && (!has(self.spec.deadlineSeconds) || self.spec.deadlineSeconds == oldSelf.spec.deadlineSeconds))",fieldPath=".spec.deadlineSeconds",message="spec.deadlineSeconds cannot be changed once the experiment has started: create another experiment instead"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || !self.spec.?suspend.orValue(false) || oldSelf.spec.?suspend.orValue(false)",fieldPath=".spec.suspend",message="spec.suspend keeps an experiment from starting, and this one has started: set spec.abort to true to end it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || !oldSelf.spec.?abort.orValue(false) || self.spec.?abort.orValue(false)",fieldPath=".spec.abort",message="spec.abort cannot be taken back once the experiment has started: create another experiment instead"
type ReplicationExperiment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to deploy, drive and break.
	// +required
	Spec ReplicationExperimentSpec `json:"spec"`
	// status is the result. Figures that were not measured are absent.
	// +optional
	Status ReplicationExperimentStatus `json:"status,omitempty"`
}

// ReplicationExperimentList is a list of experiments.
// +kubebuilder:object:root=true
type ReplicationExperimentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReplicationExperiment `json:"items"`
}

// ReplicationExperimentSpec is the experiment as a person describes it.
type ReplicationExperimentSpec struct {
	// topology is the database under test.
	// +required
	Topology TopologySpec `json:"topology"`
	// routing is how the app finds the primary and the replicas.
	// +optional
	// +kubebuilder:default={}
	Routing RoutingSpec `json:"routing,omitempty"`
	// app is the social app in front of the database.
	// +optional
	// +kubebuilder:default={}
	App AppSpec `json:"app,omitempty"`
	// dataset is what the database holds before the load begins.
	// +optional
	// +kubebuilder:default={}
	Dataset DatasetSpec `json:"dataset,omitempty"`
	// load is what k6 does.
	// +required
	Load LoadSpec `json:"load"`
	// faults are injected while the load runs, in the order of atSeconds.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Faults []Fault `json:"faults,omitempty"`
	// probes measure beside the load.
	// +optional
	// +kubebuilder:default={}
	Probes ProbesSpec `json:"probes,omitempty"`
	// goals decide between Passed and Failed. Without goals a run that could be measured is Passed.
	// +optional
	// +listType=map
	// +listMapKey=metric
	// +kubebuilder:validation:MaxItems=16
	Goals []Goal `json:"goals,omitempty"`
	// baseline is another experiment in this namespace to state the differences against. They are stated only when both have the
	// same load, dataset, app and probes; of a script only the name is compared.
	// +optional
	Baseline *BaselineReference `json:"baseline,omitempty"`
	// keep decides which deployed objects stay when the experiment is over: Always all, Never none, OnFailure
	// all unless the verdict is Passed. The results always stay.
	// +optional
	// +kubebuilder:default=OnFailure
	Keep KeepPolicy `json:"keep,omitempty"`
	// suspend keeps an experiment from starting. It is refused once the experiment has started: abort ends one.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// abort ends the experiment now as Inconclusive, with what was measured. keep decides about its objects. After the start it cannot be unset.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// deadlineSeconds of the whole run, counted from its start; a run that takes longer is ended as by abort. Absent: only the steps
	// have limits of their own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`
	// ttlSecondsAfterFinished is how long a finished experiment stays; then it is deleted with all that is left of it, the results too.
	// Absent: until it is deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int64 `json:"ttlSecondsAfterFinished,omitempty"`
	// pods are settings of the experiment's pods: where they run, and as whom.
	// +optional
	Pods *PodsSpec `json:"pods,omitempty"`
}

// KeepPolicy decides what stays when the experiment is over.
// +kubebuilder:validation:Enum=Always;OnFailure;Never
type KeepPolicy string

// Policies of keep.
const (
	KeepAlways    KeepPolicy = "Always"
	KeepOnFailure KeepPolicy = "OnFailure"
	KeepNever     KeepPolicy = "Never"
)

// BaselineReference names another experiment.
type BaselineReference struct {
	// name of an experiment in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}
