// Package processes lists what families of topologies add to the processes of their nodes: a new family is one line in each list.
package processes

import (
	"replab.dev/internal/agent/part"
	"replab.dev/internal/starter"
	dualprimary "replab.dev/internal/topology/dualprimary/agent"
	galera "replab.dev/internal/topology/galera/agent"
	galerastarter "replab.dev/internal/topology/galera/starter"
	patroni "replab.dev/internal/topology/patroni/agent"
	patronistarter "replab.dev/internal/topology/patroni/starter"
	zalando "replab.dev/internal/topology/zalando/agent"
)

// Agents of all families.
var Agents = part.Families{Parts: []part.Make{dualprimary.NewPart, galera.NewPart, patroni.NewPart}, Remote: zalando.Serve}

// Starters of all families. Servers of others are started as their engines have it.
var Starters = []starter.Family{galerastarter.Family, patronistarter.Family}
