package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	// missing writes that the primary has, or the other node with topology.type DualPrimary.
	// +optional
	Missing *int64 `json:"missing,omitempty"`
	// lost are acknowledged writes that this node lacks. Only with topology.type DualPrimary.
	// +optional
	Lost *int64 `json:"lost,omitempty"`
	// ghostWrites are rows that only this node has.
	// +optional
	GhostWrites *int64 `json:"ghostWrites,omitempty"`
	// ghostTransactions that only this node has, by the engine's own account; the probes' writes are among them.
	// +optional
	GhostTransactions *int64 `json:"ghostTransactions,omitempty"`
	// rejoined is True when the node was rebuilt as a replica after its ghosts were counted.
	// +optional
	Rejoined metav1.ConditionStatus `json:"rejoined,omitempty"`
	// rejoinedRows of the users table once the node was back, if that was after the others' were compared: then it was compared once more,
	// with all of its columns. Absent where it was not.
	// +optional
	RejoinedRows *int64 `json:"rejoinedRows,omitempty"`
	// lag of this node.
	// +optional
	Lag *LagStatus `json:"lag,omitempty"`
	// group is what its server counted as a member of a group: see replication.group.
	// +optional
	Group *GroupFigures `json:"group,omitempty"`
	// resources that its server used in the stages that are neither discarded nor at rest.
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
	// threadsPeak is the most threads that were seen at once.
	// +optional
	ThreadsPeak int64 `json:"threadsPeak,omitempty"`
	// blockReadBytes from disk.
	BlockReadBytes int64 `json:"blockReadBytes"`
	// blockWrittenBytes to disk.
	BlockWrittenBytes int64 `json:"blockWrittenBytes"`
	// networkReceivedBytes by the pod.
	NetworkReceivedBytes int64 `json:"networkReceivedBytes"`
	// networkSentBytes by the pod.
	NetworkSentBytes int64 `json:"networkSentBytes"`
}

// NodeRole is what a node was in its topology.
// +kubebuilder:validation:Enum=Primary;Replica;Isolated;Down
type NodeRole string

// Roles of nodes.
const (
	// NodePrimary takes writes; a topology may have several.
	NodePrimary NodeRole = "Primary"
	// NodeReplica follows a primary.
	NodeReplica NodeRole = "Replica"
	// NodeIsolated was a primary and came back: it is kept apart until its ghosts are counted.
	NodeIsolated NodeRole = "Isolated"
	NodeDown     NodeRole = "Down"
)
