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
	// size of each node's volume: at least 512Mi, and at least 400Mi (Galera 528Mi, PostgreSQL 1152Mi) plus 1500 bytes for each of
	// dataset.users. Writes of the load come on top. Default: 2Gi.
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
