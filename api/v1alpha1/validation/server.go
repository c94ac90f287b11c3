package validation

import "replab.dev/api/v1alpha1"

// Server says what the servers of one engine make of topology.parameters. It performs no IO.
type Server interface {
	// RefuseParameters lists the settings that cannot stand, in the order of their names. A setting is refused that would undo what another
	// field of the spec says or what replab relies on, that the engine does not have, and that the server would not read as it is written.
	RefuseParameters(parameters map[string]string) []Refusal
	// Knows tells whether the servers have a setting of this name. Servers of other versions may know more.
	Knows(name string) bool
	// Memory is what a server with these parameters needs.
	Memory(parameters map[string]string) Need
	// LogSize is what a server with these parameters may keep of its log of changes on its volume, beside its data.
	LogSize(parameters map[string]string) Need
}

// Servers by the names of their engines.
type Servers map[v1alpha1.Engine]Server

// Refusal is a setting that cannot stand.
type Refusal struct {
	Name string // as the spec spells it
	Why  string // and what to write instead
}

// Need is how many bytes a server needs at least.
type Need struct {
	Bytes   int64
	Setting string // of the server, which decides most of them, as people write it
}
