package v1alpha1

// Fault is something that breaks while the load runs.
//
// +kubebuilder:validation:XValidation:rule="(self.target == 'Node') == has(self.node)",fieldPath=".node",message="target Node needs a node, and no other target has one. Set or remove it."
// +kubebuilder:validation:XValidation:rule="(self.action == 'Partition') == has(self.partitionFrom)",fieldPath=".partitionFrom",message="action Partition needs it, and no other action has one. Set Peers, Clients, Everyone, Zone or Store, or remove it."
// +kubebuilder:validation:XValidation:rule="!has(self.gracePeriodSeconds) || self.action == 'DeletePod'",fieldPath=".gracePeriodSeconds",message="only DeletePod has a grace period. Remove it, or change the action."
type Fault struct {
	// name of the fault.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=30
	Name string `json:"name"`
	// atSeconds is the time of the fault in seconds after the start of the load.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=57599
	AtSeconds int64 `json:"atSeconds"`
	// target is the node, by its role when the fault is injected: the primary, one replica, all replicas, or the number in node.
	// +required
	Target FaultTarget `json:"target"`
	// node by number, for target Node.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Node *int32 `json:"node,omitempty"`
	// action is what happens to the target.
	// +required
	Action FaultAction `json:"action"`
	// partitionFrom says what a Partition cuts the node off from: other nodes, clients, everyone, other zones, or the store of Patroni.
	// +optional
	PartitionFrom PartitionFrom `json:"partitionFrom,omitempty"`
	// holdSeconds is how long the server stays down, paused or cut off, in seconds. -1 holds until the audit is done.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=3600
	HoldSeconds int64 `json:"holdSeconds"`
	// gracePeriodSeconds of DeletePod. Default: the grace period of the pod.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}

// FaultTarget is the node that a fault hits.
// +kubebuilder:validation:Enum=Primary;Replica;AllReplicas;Node
type FaultTarget string

// Targets of faults.
const (
	// TargetPrimary is the node that takes writes. If several nodes take writes, it is the first of them.
	TargetPrimary FaultTarget = "Primary"
	// TargetReplica is the first running replica. It skips replicas that another fault hits in the same second or still holds, if possible.
	TargetReplica FaultTarget = "Replica"
	// TargetAllReplicas is every node but the primary.
	TargetAllReplicas FaultTarget = "AllReplicas"
	// TargetNode is the node with the number in node.
	TargetNode FaultTarget = "Node"
)

// FaultAction is what a fault does.
// +kubebuilder:validation:Enum=Kill;KillServer;DeletePod;Pause;Partition;Switchover
type FaultAction string

// Actions of faults.
const (
	// ActionKill sends SIGKILL to the server. With Patroni it also kills Patroni and all processes of both.
	ActionKill FaultAction = "Kill"
	// ActionKillServer sends SIGKILL to the server alone. Patroni then starts it again.
	ActionKillServer FaultAction = "KillServer"
	// ActionDeletePod deletes the pod, so the server shuts down in order.
	ActionDeletePod FaultAction = "DeletePod"
	// ActionPause sends SIGSTOP to the server. With Patroni it also stops Patroni and all processes of both.
	ActionPause FaultAction = "Pause"
	// ActionPartition drops packets and closes no connection.
	ActionPartition FaultAction = "Partition"
	// ActionSwitchover asks the topology's manager to move the writes to another node. The old primary goes on as a replica.
	ActionSwitchover FaultAction = "Switchover"
)

// EndsServer reports whether the node is certainly out of its place after the fault, until its server runs again.
func (a FaultAction) EndsServer() bool {
	return a == ActionKill || a == ActionKillServer || a == ActionDeletePod
}

// PartitionFrom is whom a partition cuts a node off from.
// +kubebuilder:validation:Enum=Peers;Clients;Everyone;Zone;Store
type PartitionFrom string

// Sides of a partition. No instrument is ever cut off.
const (
	// PartitionPeers cuts the node off from the other nodes.
	PartitionPeers PartitionFrom = "Peers"
	// PartitionClients cuts the node off from the proxy and the app.
	PartitionClients PartitionFrom = "Clients"
	// PartitionEveryone cuts the node off from nodes, proxy, app and failover manager. With Patroni it includes the API server.
	PartitionEveryone PartitionFrom = "Everyone"
	// PartitionZone cuts every node of the target's zone off from all nodes outside. A node without a zone is cut off alone.
	PartitionZone PartitionFrom = "Zone"
	// PartitionStore cuts the node off from the API server, where Patroni keeps its leader lock.
	PartitionStore PartitionFrom = "Store"
)
