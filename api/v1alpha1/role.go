package v1alpha1

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
