// Package processes lists what families of topologies add to the processes of their nodes: a new family is one line in each list.
package processes

import (
	"replab.dev/internal/agent/part"
	galera "replab.dev/internal/topology/galera/agent"
	patroni "replab.dev/internal/topology/patroni/agent"
	zalando "replab.dev/internal/topology/zalando/agent"
)

// Agents of all families.
var Agents = part.Families{Parts: []part.Make{galera.NewPart, patroni.NewPart}, Remote: zalando.Serve}
