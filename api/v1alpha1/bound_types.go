package v1alpha1

// BoundStatus is what is known of a figure that is not exact, or absent. Without atLeast and atMost nothing is known of it.
type BoundStatus struct {
	// figure is its path in the status, such as load.stages[steady].latency.p99Microseconds.
	// +kubebuilder:validation:MaxLength=256
	Figure string `json:"figure"`
	// atLeast is the lower bound, in the unit of the figure.
	// +optional
	AtLeast *int64 `json:"atLeast,omitempty"`
	// atMost is the upper bound, in the unit of the figure.
	// +optional
	AtMost *int64 `json:"atMost,omitempty"`
	// because says why it is not exact, or absent.
	// +kubebuilder:validation:MaxLength=512
	Because string `json:"because"`
}
