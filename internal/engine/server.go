package engine

// Server is what a server is before it runs. It performs no IO.
type Server interface {
	// RefuseParameters says of each setting of spec.topology.parameters that cannot stand why, and what to set instead; in the
	// order of the names. A setting is refused that would undo what another field of the spec says or what replab relies on,
	// and one that the server would not read as it is written.
	RefuseParameters(parameters map[string]string) []string
}
