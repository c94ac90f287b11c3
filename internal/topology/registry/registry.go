// Package registry lists the drivers: a new topology is a new folder and one line here.
package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/galera"
	"replab.dev/internal/topology/replication"
)

// topologies that this operator knows, each with the engine of one that names none.
var topologies = map[v1alpha1.TopologyType]struct {
	driver topology.Driver
	engine v1alpha1.Engine
	// special is the engine whose usual servers cannot be nodes of the type; "" where all can.
	special v1alpha1.Engine
}{
	v1alpha1.TopologySingle:   {driver: replication.Driver{}, engine: v1alpha1.EngineMySQL},
	v1alpha1.TopologyAsync:    {driver: replication.Driver{}, engine: v1alpha1.EngineMySQL},
	v1alpha1.TopologySemiSync: {driver: replication.Driver{}, engine: v1alpha1.EngineMySQL},
	v1alpha1.TopologyGalera:   {driver: galera.Driver{}, engine: v1alpha1.EngineMariaDB, special: v1alpha1.EngineMySQL}, // Percona XtraDB Cluster
}

// For returns the driver of a type. The CRD refuses types without one; the error is for a CRD newer than the operator.
func For(t v1alpha1.TopologyType) (topology.Driver, error) {
	if d, ok := topologies[t]; ok {
		return d.driver, nil
	}
	known := slices.Sorted(maps.Keys(topologies))
	return nil, fmt.Errorf("topology.type %s is not supported by this operator: upgrade the operator, or use one of %s", t, strings.Trim(fmt.Sprint(known), "[]"))
}

// Engine of a topology, its type's default where it names none; "" for a type that For refuses.
func Engine(t v1alpha1.TopologySpec) v1alpha1.Engine {
	return cmp.Or(t.Engine, topologies[t.Type].engine)
}

// Special tells that the engine's usual servers cannot be nodes of the topology: it needs an image of its own.
func Special(t v1alpha1.TopologySpec) bool {
	special := topologies[t.Type].special
	return special != "" && Engine(t) == special
}
