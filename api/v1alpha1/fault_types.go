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
	// atSeconds after the start of the load.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=57599
	AtSeconds int64 `json:"atSeconds"`
	// target is the node, by the role it has when the fault is injected. Replica is the first that is up and that no other fault hits in
	// the same second or still holds, while there is such a one: two of them in one second are two replicas. Where several nodes take
	// writes, Primary is the first of them, and the others are the replicas.
	// +required
	Target FaultTarget `json:"target"`
	// node by number, for target Node.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Node *int32 `json:"node,omitempty"`
	// action Kill is SIGKILL to the server, which is what a crash is; DeletePod is an orderly end; Pause is SIGSTOP;
	// Partition drops packets and closes nothing. Where a manager runs the server, as Patroni does, Kill and Pause hit both, and all that they
	// have started, at once, as when the machine fails; KillServer is SIGKILL to the server alone, which its manager then starts again in its
	// place. Switchover breaks nothing: the topology's own manager is asked to have another node
	// take the writes, as before a maintenance; the primary goes on as a replica.
	// +required
	Action FaultAction `json:"action"`
	// partitionFrom is whom a Partition cuts the node off from: Peers are the other nodes, Clients the proxy and the app, Everyone both
	// and the failover manager. Store is the API server, in which Patroni keeps who the leader is; Everyone cuts off from it too where the
	// nodes decide there. Zone cuts every node of the target's zone off from all nodes outside of it, as where the link between
	// places fails; a node that is in no zone is one by itself, and who is no node reaches all of them as before.
	// +optional
	PartitionFrom PartitionFrom `json:"partitionFrom,omitempty"`
	// holdSeconds is how long it stays so: the server stays down, stopped or cut off. -1: until the audit is done.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=3600
	HoldSeconds int64 `json:"holdSeconds"`
	// gracePeriodSeconds of DeletePod; the default is the pod's own.
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
	TargetPrimary     FaultTarget = "Primary"
	TargetReplica     FaultTarget = "Replica"
	TargetAllReplicas FaultTarget = "AllReplicas"
	TargetNode        FaultTarget = "Node"
)

// FaultAction is what a fault does.
// +kubebuilder:validation:Enum=Kill;KillServer;DeletePod;Pause;Partition;Switchover
type FaultAction string

// Actions of faults.
const (
	ActionKill       FaultAction = "Kill"
	ActionKillServer FaultAction = "KillServer"
	ActionDeletePod  FaultAction = "DeletePod"
	ActionPause      FaultAction = "Pause"
	ActionPartition  FaultAction = "Partition"
	ActionSwitchover FaultAction = "Switchover"
)

// EndsServer tells of a fault after which a node is out of its place for certain until its server runs again.
func (a FaultAction) EndsServer() bool {
	return a == ActionKill || a == ActionKillServer || a == ActionDeletePod
}

// PartitionFrom is whom a partition cuts a node off from.
// +kubebuilder:validation:Enum=Peers;Clients;Everyone;Zone;Store
type PartitionFrom string

// Sides of a partition. No instrument is ever cut off.
const (
	PartitionPeers    PartitionFrom = "Peers"
	PartitionClients  PartitionFrom = "Clients"
	PartitionEveryone PartitionFrom = "Everyone"
	PartitionZone     PartitionFrom = "Zone"
	PartitionStore    PartitionFrom = "Store"
)
