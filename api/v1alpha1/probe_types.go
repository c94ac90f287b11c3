package v1alpha1

// ProbesSpec are measurements beside the load.
type ProbesSpec struct {
	// lag writes rows and watches every node for them.
	// +optional
	// +kubebuilder:default={}
	Lag LagProbeSpec `json:"lag,omitempty"`
	// availability writes through the app when the load does not, so that an outage is seen whatever the load does.
	// +optional
	// +kubebuilder:default={}
	Availability AvailabilityProbeSpec `json:"availability,omitempty"`
}

// LagProbeSpec is the lag probe.
type LagProbeSpec struct {
	// intervalMilliseconds between two rows; 0 turns the probe off. Each row is a commit on every node: 50 a second take a
	// small cluster a tenth of its throughput. A stall between two rows that is shorter than the interval may go unseen.
	// +optional
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
	// payloadBytes of each row.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65000
	PayloadBytes int64 `json:"payloadBytes"`
	// sweepPayloadBytes are sizes to write in turn instead, in random order, each reported apart.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=65000
	SweepPayloadBytes []int64 `json:"sweepPayloadBytes,omitempty"`
}

// AvailabilityProbeSpec is the availability probe.
type AvailabilityProbeSpec struct {
	// intervalMilliseconds between two writes, and so the resolution of an outage; 0 turns the probe off. A write is left out
	// while writes of the load are acknowledged within the interval, since those prove as much.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
}
