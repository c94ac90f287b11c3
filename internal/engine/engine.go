// Package engine is what a database server is to replab, as small roles. Each engine implements them in a folder of its own,
// the only ones that import an SQL driver; cmd/replab alone knows every engine, and gives each process the role that it needs.
// A process that queries a server declares the interface for it; the values that it and the engine exchange are here.
package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Lookup is one role of every engine, by the engine's name in spec.topology.engine and in the processes' configuration.
type Lookup[Role any] map[string]Role

// For returns the role of the engine with this name.
func (l Lookup[Role]) For(name string) (Role, error) {
	if role, ok := l[name]; ok {
		return role, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(l)), ", ")
	var none Role
	return none, fmt.Errorf("engine %q is not one that this version knows: use one of: %s", name, known)
}
