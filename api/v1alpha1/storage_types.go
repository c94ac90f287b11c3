package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// StorageSpec is where a node keeps its data.
//
// +kubebuilder:validation:XValidation:rule="self.medium == 'VolumeClaim' || !has(self.className) || self.className.size() == 0",fieldPath=".className",message="only medium VolumeClaim has a storage class. Remove it, or change the medium."
type StorageSpec struct {
	// medium of the data: VolumeClaim is a claim per node. Node is a folder of the machine and Memory is its memory; both go with the pod.
	// +optional
	// +kubebuilder:default=VolumeClaim
	// +kubebuilder:validation:Enum=VolumeClaim;Node;Memory
	Medium string `json:"medium,omitempty"`
	// size of each node's volume: at least 512Mi, and 400Mi, of type Galera 528Mi, of PostgreSQL 1152Mi, with 1500 bytes for each of
	// dataset.users. An empty server takes 133 MiB and its redo log up to 256 MiB, a member's cache of write sets (gcache.size) 128 MiB;
	// PostgreSQL's log takes up to 1 GiB (max_wal_size: 1152Mi hold unless it is in topology.parameters in MB); a user takes about 1,000 bytes on a
	// replica: the row and its part in the binary and the relay log. What the load writes comes on top, and with PostgreSQL the log that is
	// kept for a standby that is down.
	// +optional
	// +kubebuilder:default="2Gi"
	Size resource.Quantity `json:"size,omitempty"`
	// className is the storage class of the claims. Default: the storage class of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	ClassName string `json:"className,omitempty"`
}

// Media of storage.
const (
	MediumVolumeClaim = "VolumeClaim"
	MediumNode        = "Node"
	MediumMemory      = "Memory"
)
