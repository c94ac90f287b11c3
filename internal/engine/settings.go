package engine

import "context"

// Inspector reads what servers really run with, and changes nothing. It is part of an instrument.
type Inspector interface {
	// Inspect asks the server on a host for settings by name. One that the server does not have is not in the answer.
	Inspect(ctx context.Context, host string, names []string) (Inspection, error)
	// Same tells whether a setting that was written as expected is what the server then reports as actual, such as 128M
	// and 134217728, or 1 and ON.
	Same(name, expected, actual string) bool
}

// Inspection is what a server says of itself.
type Inspection struct {
	Version  string
	Identity string            // no other server has it
	Settings map[string]string // by name
}

// OpenInspector makes an Inspector that asks with the password of wire.AccountProbe.
type OpenInspector func(password string) Inspector
