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
// +kubebuilder:printcolumn:name="Requests/s",type=integer,JSONPath=`.status.load.requestsPerSecond`
// +kubebuilder:printcolumn:name="P99(us)",type=integer,JSONPath=`.status.load.latency.p99Microseconds`
// +kubebuilder:printcolumn:name="Lag-P99(us)",type=integer,JSONPath=`.status.replication.lag.p99Microseconds`
// +kubebuilder:printcolumn:name="Lost",type=integer,JSONPath=`.status.writes.lost`
// +kubebuilder:printcolumn:name="Ghosts",type=integer,JSONPath=`.status.ghostWrites`
// +kubebuilder:printcolumn:name="Outage(ms)",type=integer,JSONPath=`.status.outageMilliseconds`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name names every object of the experiment: use at most 40 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name also names Services: begin with a letter and use only lower-case letters, digits and '-'"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.baseline) || self.spec.baseline.name != self.metadata.name",fieldPath=".spec.baseline.name",message="spec.baseline.name is the experiment itself: name another experiment, or leave baseline out"
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
	// status is what came of it. Figures that were not measured are absent.
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
//
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.atSeconds >= self.load.stages.map(s, s.durationSeconds).sum())`,fieldPath=`.faults`,message=`faults[].atSeconds counts from the start of the load and must lie before its end: make a stage longer or the fault earlier`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.atSeconds >= self.load.stages.map(s, s.durationSeconds).sum())[0])].name + '].atSeconds counts from the start of the load and must lie before its end: make a stage longer or the fault earlier'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].exists(i, i < self.load.stages.size() && has(self.load.stages[i].discard) && self.load.stages[i].discard && f.atSeconds >= [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].filter(j, j < i).map(j, self.load.stages[j].durationSeconds).sum() && f.atSeconds < [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].filter(j, j <= i).map(j, self.load.stages[j].durationSeconds).sum()))`,fieldPath=`.faults`,message=`faults[].atSeconds is in a stage that is discarded, whose figures count nowhere: make the fault later, or leave discard out`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].exists(i, i < self.load.stages.size() && has(self.load.stages[i].discard) && self.load.stages[i].discard && f.atSeconds >= [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].filter(j, j < i).map(j, self.load.stages[j].durationSeconds).sum() && f.atSeconds < [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].filter(j, j <= i).map(j, self.load.stages[j].durationSeconds).sum()))[0])].name + '].atSeconds is in a stage that is discarded, whose figures count nowhere: make the fault later, or leave discard out'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, self.faults.exists(e, e.name != f.name && e.holdSeconds != 0 && e.atSeconds <= f.atSeconds && (e.holdSeconds < 0 || f.atSeconds < e.atSeconds + e.holdSeconds) && (e.action == f.action ? (e.action != 'Partition' || (has(e.partitionFrom) && has(f.partitionFrom) && (e.partitionFrom == f.partitionFrom || (e.partitionFrom == 'Everyone' && f.partitionFrom != 'Zone')))) : (e.action in ['Kill', 'DeletePod'] && f.action != 'Partition')) && ((e.target == 'AllReplicas' && f.target in ['AllReplicas', 'Replica']) || (e.target == 'Replica' && (f.target == 'AllReplicas' || (f.target == 'Replica' && self.topology.replicas == 1))) || (has(e.node) && has(f.node) && e.node == f.node) || ((self.topology.replicas == 0 || self.topology.failover == 'None') && (e.target == 'Primary' || (has(e.node) && e.node == 0)) && (f.target == 'Primary' || (has(f.node) && f.node == 0))))))`,fieldPath=`.faults`,message=`faults[].atSeconds is while an earlier fault still holds the same node in a state that leaves nothing to do to it: make it later, or the hold shorter`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, self.faults.exists(e, e.name != f.name && e.holdSeconds != 0 && e.atSeconds <= f.atSeconds && (e.holdSeconds < 0 || f.atSeconds < e.atSeconds + e.holdSeconds) && (e.action == f.action ? (e.action != 'Partition' || (has(e.partitionFrom) && has(f.partitionFrom) && (e.partitionFrom == f.partitionFrom || (e.partitionFrom == 'Everyone' && f.partitionFrom != 'Zone')))) : (e.action in ['Kill', 'DeletePod'] && f.action != 'Partition')) && ((e.target == 'AllReplicas' && f.target in ['AllReplicas', 'Replica']) || (e.target == 'Replica' && (f.target == 'AllReplicas' || (f.target == 'Replica' && self.topology.replicas == 1))) || (has(e.node) && has(f.node) && e.node == f.node) || ((self.topology.replicas == 0 || self.topology.failover == 'None') && (e.target == 'Primary' || (has(e.node) && e.node == 0)) && (f.target == 'Primary' || (has(f.node) && f.node == 0))))))[0])].name + '].atSeconds is while an earlier fault still holds the same node in a state that leaves nothing to do to it: make it later, or the hold shorter'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.target == 'Node' && has(f.node) && f.node > self.topology.replicas)`,fieldPath=`.faults`,message=`faults[].node must be a node of the topology: 0 to topology.replicas`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.target == 'Node' && has(f.node) && f.node > self.topology.replicas)[0])].name + '].node must be a node of the topology: 0 to topology.replicas'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.target in ['Replica', 'AllReplicas'] && self.topology.replicas == 0)`,fieldPath=`.faults`,message=`faults[].target Replica and AllReplicas need a topology with replicas: use target Primary, or set topology.replicas`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.target in ['Replica', 'AllReplicas'] && self.topology.replicas == 0)[0])].name + '].target Replica and AllReplicas need a topology with replicas: use target Primary, or set topology.replicas'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Peers' && self.topology.replicas == 0)`,fieldPath=`.faults`,message=`faults[].partitionFrom Peers needs a topology with replicas: use Clients or Everyone`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Peers' && self.topology.replicas == 0)[0])].name + '].partitionFrom Peers needs a topology with replicas: use Clients or Everyone'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && (!has(self.topology.zones) || self.topology.zones.size() == 0))`,fieldPath=`.faults`,message=`faults[].partitionFrom Zone needs topology.zones: say which nodes are in which place, or use Peers`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && (!has(self.topology.zones) || self.topology.zones.size() == 0))[0])].name + '].partitionFrom Zone needs topology.zones: say which nodes are in which place, or use Peers'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && has(self.topology.zones) && self.topology.zones.exists(z, z.nodes.size() > self.topology.replicas))`,fieldPath=`.faults`,message=`faults[].partitionFrom Zone needs nodes in at least two of topology.zones: all are in one, so that nothing would be cut off`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && has(self.topology.zones) && self.topology.zones.exists(z, z.nodes.size() > self.topology.replicas))[0])].name + '].partitionFrom Zone needs nodes in at least two of topology.zones: all are in one, so that nothing would be cut off'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !has(self.topology.zones) || !self.faults.exists(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && has(f.node) && self.faults.exists(e, e.name != f.name && e.action == 'Partition' && has(e.partitionFrom) && e.partitionFrom == 'Zone' && has(e.node) && e.atSeconds <= f.atSeconds && (e.holdSeconds < 0 || f.atSeconds < e.atSeconds + e.holdSeconds) && self.topology.zones.exists(z, e.node in z.nodes && f.node in z.nodes)))`,fieldPath=`.faults`,message=`faults[].node is in a zone that an earlier fault still cuts off, which leaves nothing to do to it: make it later, or the hold shorter`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Partition' && has(f.partitionFrom) && f.partitionFrom == 'Zone' && has(f.node) && self.faults.exists(e, e.name != f.name && e.action == 'Partition' && has(e.partitionFrom) && e.partitionFrom == 'Zone' && has(e.node) && e.atSeconds <= f.atSeconds && (e.holdSeconds < 0 || f.atSeconds < e.atSeconds + e.holdSeconds) && self.topology.zones.exists(z, e.node in z.nodes && f.node in z.nodes)))[0])].name + '].node is in a zone that an earlier fault still cuts off, which leaves nothing to do to it: make it later, or the hold shorter'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'Switchover' && (self.topology.replicas == 0 || (has(self.topology.failover) && self.topology.failover == 'None')))`,fieldPath=`.faults`,message=`faults[].action Switchover needs another node that may become primary: set topology.replicas and topology.failover Automatic, or use another action`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Switchover' && (self.topology.replicas == 0 || (has(self.topology.failover) && self.topology.failover == 'None')))[0])].name + '].action Switchover needs another node that may become primary: set topology.replicas and topology.failover Automatic, or use another action'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'Switchover' && self.topology.type == 'Galera' && ((has(self.routing.proxy) && self.routing.proxy == 'ProxySQL') || (has(self.routing.writes) && self.routing.writes == 'All')))`,fieldPath=`.faults`,message=`faults[].action Switchover with topology.type Galera is followed by HAProxy alone, which asks the members who takes the writes: set routing.proxy to HAProxy and routing.writes to Primary, or use another action`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'Switchover' && self.topology.type == 'Galera' && ((has(self.routing.proxy) && self.routing.proxy == 'ProxySQL') || (has(self.routing.writes) && self.routing.writes == 'All')))[0])].name + '].action Switchover with topology.type Galera is followed by HAProxy alone, which asks the members who takes the writes: set routing.proxy to HAProxy and routing.writes to Primary, or use another action'`
// +kubebuilder:validation:XValidation:rule=`!has(self.faults) || !self.faults.exists(f, f.action == 'DeletePod' && f.holdSeconds != 0 && self.topology.storage.medium != 'VolumeClaim')`,fieldPath=`.faults`,message=`faults[].holdSeconds with action DeletePod needs topology.storage.medium VolumeClaim: what holds the new pod is on the volume of the node`,messageExpression=`'faults[' + self.faults[self.faults.indexOf(self.faults.filter(f, f.action == 'DeletePod' && f.holdSeconds != 0 && self.topology.storage.medium != 'VolumeClaim')[0])].name + '].holdSeconds with action DeletePod needs topology.storage.medium VolumeClaim: what holds the new pod is on the volume of the node'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || (self.topology.replicas > 0 && self.probes.lag.intervalMilliseconds > 0) || !self.goals.exists(g, g.metric.startsWith('lag'))`,fieldPath=`.goals`,message=`goals[] for the lag needs replicas and the lag probe: set topology.replicas and probes.lag.intervalMilliseconds above 0, or remove the goal`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric.startsWith('lag'))[0])].metric + '] for the lag needs replicas and the lag probe: set topology.replicas and probes.lag.intervalMilliseconds above 0, or remove the goal'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || self.topology.type == 'SemiSync' || !self.goals.exists(g, g.metric == 'unacknowledgedCommits')`,fieldPath=`.goals`,message=`goals[] is measured with topology.type SemiSync only: remove the goal or change the type`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric == 'unacknowledgedCommits')[0])].metric + '] is measured with topology.type SemiSync only: remove the goal or change the type'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || self.topology.type == 'Galera' || !self.goals.exists(g, g.metric in ['certificationFailures', 'forcedAborts', 'flowControlPausedPermille'])`,fieldPath=`.goals`,message=`goals[] is measured with topology.type Galera only: remove the goal or change the type`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric in ['certificationFailures', 'forcedAborts', 'flowControlPausedPermille'])[0])].metric + '] is measured with topology.type Galera only: remove the goal or change the type'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || has(self.load.script) || self.load.mix.register > 0 || !self.goals.exists(g, g.metric in ['lostWrites', 'ghostWrites', 'indeterminateWrites', 'rejectedWrites', 'conflictingWrites', 'certificationFailures', 'forcedAborts', 'flowControlPausedPermille'])`,fieldPath=`.goals`,message=`goals[] needs writes, and the load has none: set load.mix.register above 0, or remove the goal`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric in ['lostWrites', 'ghostWrites', 'indeterminateWrites', 'rejectedWrites', 'conflictingWrites', 'certificationFailures', 'forcedAborts', 'flowControlPausedPermille'])[0])].metric + '] needs writes, and the load has none: set load.mix.register above 0, or remove the goal'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || has(self.load.script) || (self.load.mix.register > 0 && self.load.mix.profile > 0) || !self.goals.exists(g, g.metric == 'staleReads')`,fieldPath=`.goals`,message=`goals[] needs users that are registered and then read: set load.mix.register and load.mix.profile above 0, or remove the goal`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric == 'staleReads')[0])].metric + '] needs users that are registered and then read: set load.mix.register and load.mix.profile above 0, or remove the goal'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || has(self.load.script) || self.load.stages.exists(s, has(s.requestsPerSecond)) || !self.goals.exists(g, g.metric == 'droppedIterations')`,fieldPath=`.goals`,message=`goals[] needs an open loop, since a closed one drops nothing: give a stage requestsPerSecond, or remove the goal`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric == 'droppedIterations')[0])].metric + '] needs an open loop, since a closed one drops nothing: give a stage requestsPerSecond, or remove the goal'`
// +kubebuilder:validation:XValidation:rule=`!has(self.goals) || has(self.load.script) || self.load.mix.register > 0 || self.probes.availability.intervalMilliseconds > 0 || !self.goals.exists(g, g.metric == 'outageMilliseconds')`,fieldPath=`.goals`,message=`goals[] needs writes that can fail: set probes.availability.intervalMilliseconds or load.mix.register above 0, or remove the goal`,messageExpression=`'goals[' + self.goals[self.goals.indexOf(self.goals.filter(g, g.metric == 'outageMilliseconds')[0])].metric + '] needs writes that can fail: set probes.availability.intervalMilliseconds or load.mix.register above 0, or remove the goal'`
// +kubebuilder:validation:XValidation:rule=`!has(self.routing.proxy) || self.routing.proxy != 'ProxySQL' || (self.topology.type != 'Patroni' && (!has(self.topology.engine) || self.topology.engine != 'PostgreSQL'))`,fieldPath=`.routing.proxy`,message=`routing.proxy ProxySQL speaks MySQL's protocol alone: use HAProxy or None with PostgreSQL`
// +kubebuilder:validation:XValidation:rule=`!has(self.routing.proxy) || self.routing.proxy != 'ProxySQL' || self.topology.type != 'DualPrimary' || (has(self.routing.writes) && self.routing.writes == 'All')`,fieldPath=`.routing.proxy`,message=`routing.proxy ProxySQL sends writes to every server that is writable, and with topology.type DualPrimary two are: set routing.writes to All, or use HAProxy or None`
// +kubebuilder:validation:XValidation:rule=`!has(self.routing.proxy) || self.routing.proxy != 'None' || self.topology.type != 'Galera'`,fieldPath=`.routing.proxy`,message=`routing.proxy None is not for topology.type Galera, whose members tell their roles to a proxy alone: use HAProxy or ProxySQL`
// +kubebuilder:validation:XValidation:rule=`!has(self.routing.writes) || self.routing.writes != 'All' || self.topology.type in ['DualPrimary', 'Galera']`,fieldPath=`.routing.writes`,message=`routing.writes All needs a topology.type whose nodes all take writes, Galera or DualPrimary: use Primary`
// +kubebuilder:validation:XValidation:rule=`quantity(string(self.topology.storage.size)).asApproximateFloat() >= 419430400.0 + 1500.0 * double(self.dataset.users)`,fieldPath=`.dataset.users`,message=`dataset.users does not fit into topology.storage.size, of which a server needs 400Mi and 1500 bytes for each user: make the volume larger or the data set smaller`
// +kubebuilder:validation:XValidation:rule=`!has(self.deadlineSeconds) || self.deadlineSeconds > self.load.stages.map(s, s.durationSeconds).sum()`,fieldPath=`.deadlineSeconds`,message=`deadlineSeconds must be above the time of all load.stages together, since deploying, loading and the audit come on top: raise it, or leave it out`
// +kubebuilder:validation:XValidation:rule=`!has(self.pods) || !has(self.pods.nodes) || !has(self.pods.nodes.resources) || !has(self.topology.resources) || (!has(self.topology.resources.requests) && !has(self.topology.resources.limits))`,fieldPath=`.pods.nodes.resources`,message=`pods.nodes.resources and topology.resources are the same: remove one of them`
// +kubebuilder:validation:XValidation:rule=`!has(self.pods) || !has(self.pods.nodes) || !has(self.pods.nodes.resources) || !has(self.pods.nodes.resources.limits) || !('memory' in self.pods.nodes.resources.limits) || quantity(string(self.pods.nodes.resources.limits['memory'])).compareTo(quantity('512Mi')) >= 0`,fieldPath=`.pods.nodes.resources.limits`,message=`pods.nodes.resources.limits.memory is below what a server needs: use at least 512Mi, or topology.resources together with a smaller innodb_buffer_pool_size`
// +kubebuilder:validation:XValidation:rule=`!has(self.app.zone) || self.app.zone == "" || !has(self.topology.links) || (has(self.routing.proxy) && self.routing.proxy == 'None') || self.topology.links.all(l, (l.from != self.app.zone && l.to != self.app.zone) || l.roundTripMilliseconds * 5 <= self.routing.check.intervalMilliseconds * 4)`,fieldPath=`.routing.check.intervalMilliseconds`,message=`routing.check.intervalMilliseconds must be at least 1.25 times the roundTripMilliseconds of each link of app.zone, where the proxy lives too: a check is over a connection of its own, which must be open before the next. Raise it, or use a shorter link or routing.proxy None`
// +kubebuilder:validation:XValidation:rule=`!has(self.app.zone) || self.app.zone == "" || !has(self.topology.links) || !has(self.routing.proxy) || self.routing.proxy != 'ProxySQL' || self.topology.links.all(l, (l.from != self.app.zone && l.to != self.app.zone) || l.roundTripMilliseconds <= 600)`,fieldPath=`.app.zone`,message=`app.zone must not be more than 600 ms from any zone with routing.proxy ProxySQL, which was not seen to keep connections to servers farther away: use a shorter link, HAProxy or None`
// +kubebuilder:validation:XValidation:rule=`!has(self.app.zone) || self.app.zone == "" || !has(self.topology.links) || self.topology.links.all(l, (l.from != self.app.zone && l.to != self.app.zone) || l.roundTripMilliseconds <= 900)`,fieldPath=`.app.zone`,message=`app.zone must not be more than 900 ms from any zone: a request that opens a connection makes about seven round trips and is given up after 10 s, a write of the availability probe after 1 s. Use a shorter link`
// +kubebuilder:validation:XValidation:rule=`self.load.stages.all(s, !(has(s.distance) && s.distance == 'None')) || (has(self.topology.links) && self.topology.links.size() > 0)`,fieldPath=`.load.stages`,message=`load.stages[] with distance None needs topology.links, without which no stage is at a distance: remove distance, or add links`,messageExpression=`'load.stages[' + self.load.stages[self.load.stages.indexOf(self.load.stages.filter(s, has(s.distance) && s.distance == 'None')[0])].name + '] with distance None needs topology.links, without which no stage is at a distance: remove distance, or add links'`
// +kubebuilder:validation:XValidation:rule=`!has(self.topology.links) || !has(self.topology.zones) || !self.topology.links.exists(l, [l.from, l.to].exists(name, !(has(self.app.zone) && self.app.zone == name) && self.topology.zones.exists(z, z.name == name && z.nodes.size() == 0)))`,fieldPath=`.topology.links`,message=`topology.links[] leads to a zone in which neither a node nor the app is, so that nobody would be at that distance: put a node into the zone, name it in app.zone, or remove the link`,messageExpression=`'topology.links[' + self.topology.links[self.topology.links.indexOf(self.topology.links.filter(l, [l.from, l.to].exists(name, !(has(self.app.zone) && self.app.zone == name) && self.topology.zones.exists(z, z.name == name && z.nodes.size() == 0)))[0])].from + '-' + self.topology.links[self.topology.links.indexOf(self.topology.links.filter(l, [l.from, l.to].exists(name, !(has(self.app.zone) && self.app.zone == name) && self.topology.zones.exists(z, z.name == name && z.nodes.size() == 0)))[0])].to + '] leads to a zone in which neither a node nor the app is, so that nobody would be at that distance: put a node into the zone, name it in app.zone, or remove the link'`
// +kubebuilder:validation:XValidation:rule=`!has(self.app.zone) || self.app.zone == "" || (has(self.topology.zones) && self.topology.zones.exists(z, z.name == self.app.zone))`,fieldPath=`.app.zone`,message=`app.zone must be one of topology.zones: add the zone, with nodes or with none, or leave app.zone out`
// +kubebuilder:validation:XValidation:rule=`!has(self.probes.lag.sweepPayloadBytes) || self.probes.lag.sweepPayloadBytes.size() == 0 || (self.topology.replicas > 0 && self.probes.lag.intervalMilliseconds > 0)`,fieldPath=`.probes.lag.sweepPayloadBytes`,message=`probes.lag.sweepPayloadBytes needs replicas and the lag probe, which else writes no row: set topology.replicas and probes.lag.intervalMilliseconds above 0, or remove it`
// +kubebuilder:validation:XValidation:rule=`self.topology.storage.medium != 'Memory' || !has(self.pods) || !has(self.pods.nodes) || !has(self.pods.nodes.resources) || !has(self.pods.nodes.resources.limits) || !('memory' in self.pods.nodes.resources.limits) || quantity(string(self.pods.nodes.resources.limits['memory'])).sub(quantity('384Mi')).compareTo(quantity(string(self.topology.storage.size))) >= 0`,fieldPath=`.pods.nodes.resources.limits`,message=`pods.nodes.resources.limits.memory must hold topology.storage.size of medium Memory and 384Mi: the server would be killed once its data have grown. Raise it, or make the volume smaller`
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
	// keep tells what of the deployed objects stays when the experiment is over: Always all, Never none, OnFailure
	// all unless the verdict is Passed. The results always stay.
	// +optional
	// +kubebuilder:default=OnFailure
	Keep KeepPolicy `json:"keep,omitempty"`
	// suspend keeps an experiment from starting. It is refused once the experiment has started: abort ends one.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// abort ends the experiment now: it is Inconclusive, keeps what was measured, and is cleaned up as keep says. It cannot be taken back.
	// +optional
	Abort bool `json:"abort,omitempty"`
	// deadlineSeconds of the whole run, counted from its start; a run that takes longer is ended as by abort. Absent: only the steps
	// have limits of their own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`
	// ttlSecondsAfterFinished is how long a finished experiment stays; then it is deleted with all that is left of it, the results too.
	// Absent: until somebody deletes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int64 `json:"ttlSecondsAfterFinished,omitempty"`
	// pods are settings of the experiment's pods: where they run, and as whom.
	// +optional
	Pods *PodsSpec `json:"pods,omitempty"`
}

// KeepPolicy tells what stays when the experiment is over.
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
