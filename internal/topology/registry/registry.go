// Package registry lists the drivers: a new topology is a new folder and one line here.
package registry

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/replication"
)

var drivers = map[v1alpha1.TopologyType]topology.Driver{
	v1alpha1.TopologySingle:   replication.Driver{},
	v1alpha1.TopologyAsync:    replication.Driver{},
	v1alpha1.TopologySemiSync: replication.Driver{},
}

// For returns the driver of a type. The CRD refuses types without one; the error is for a CRD newer than the operator.
func For(t v1alpha1.TopologyType) (topology.Driver, error) {
	if d, ok := drivers[t]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("topology.type %s is not supported by this operator: upgrade the operator, or use Single, Async or SemiSync", t)
}
