package v1alpha1

// ImagesStatus are the images of a run, from the spec or else from the operator's catalogue.
type ImagesStatus struct {
	// replab is the image of the agents, the instruments and the app.
	Replab string `json:"replab"`
	// server is the database server's.
	Server string `json:"server"`
	// proxy is absent where there is none.
	// +optional
	Proxy string `json:"proxy,omitempty"`
	// k6 makes the load.
	K6 string `json:"k6"`
	// pullPolicy of all of them.
	// +optional
	PullPolicy string `json:"pullPolicy,omitempty"`
}

// VersionsStatus are the versions of what measured and was measured, as each tells of itself.
type VersionsStatus struct {
	// operator that judged.
	Operator string `json:"operator"`
	// server that was measured; several, with a comma between them, when the nodes ran different ones.
	// +optional
	Server string `json:"server,omitempty"`
	// k6 that made the load, absent when its requests did not name it.
	// +optional
	K6 string `json:"k6,omitempty"`
}
