// Package registry lists the drivers: a new topology is a new folder and one line here for each engine that it runs.
package registry

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/dualprimary"
	"replab.dev/internal/topology/galera"
	"replab.dev/internal/topology/patroni"
	"replab.dev/internal/topology/replication"
	"replab.dev/internal/topology/zalando"
)

// kind of a topology: what a driver is chosen by.
type kind struct {
	of     v1alpha1.TopologyType
	engine v1alpha1.Engine
}

// String is how people are told of it.
func (k kind) String() string {
	if k.engine == "" {
		return string(k.of)
	}
	return fmt.Sprintf("%s with %s", k.of, k.engine)
}

// drivers of all topologies that this operator knows.
var drivers = map[kind]topology.Driver{
	{v1alpha1.TopologySingle, v1alpha1.EngineMySQL}:        replication.Driver{},
	{v1alpha1.TopologySingle, v1alpha1.EngineMariaDB}:      replication.Driver{},
	{v1alpha1.TopologySingle, v1alpha1.EnginePostgreSQL}:   patroni.Driver{},
	{v1alpha1.TopologyAsync, v1alpha1.EngineMySQL}:         replication.Driver{},
	{v1alpha1.TopologyAsync, v1alpha1.EngineMariaDB}:       replication.Driver{},
	{v1alpha1.TopologyAsync, v1alpha1.EnginePostgreSQL}:    patroni.Driver{},
	{v1alpha1.TopologySemiSync, v1alpha1.EngineMySQL}:      replication.Driver{},
	{v1alpha1.TopologySemiSync, v1alpha1.EngineMariaDB}:    replication.Driver{},
	{v1alpha1.TopologyDualPrimary, v1alpha1.EngineMySQL}:   dualprimary.Driver{},
	{v1alpha1.TopologyDualPrimary, v1alpha1.EngineMariaDB}: dualprimary.Driver{},
	{v1alpha1.TopologyGalera, v1alpha1.EngineMySQL}:        galera.Driver{},
	{v1alpha1.TopologyGalera, v1alpha1.EngineMariaDB}:      galera.Driver{},
	{v1alpha1.TopologyPatroni, v1alpha1.EnginePostgreSQL}:  patroni.Driver{},
}

// providers are the drivers of nodes that other operators make.
var providers = map[string]topology.Driver{
	v1alpha1.ProviderZalando: zalando.Driver{},
}

// special are the kinds whose nodes the engine's usual servers cannot be.
var special = map[kind]bool{
	{v1alpha1.TopologyGalera, v1alpha1.EngineMySQL}: true, // Percona XtraDB Cluster
}

// For returns the driver of a topology. The CRD refuses those without one; the error is for a CRD newer than the operator.
func For(t v1alpha1.TopologySpec) (topology.Driver, error) {
	if d, ok := providers[Provider(t)]; ok {
		return d, nil
	}
	if d, ok := drivers[kindOf(t)]; ok {
		return d, nil
	}
	var known []string
	for k := range drivers {
		known = append(known, k.String())
	}
	slices.Sort(known)
	return nil, fmt.Errorf("topology.type %s is not supported by this operator: upgrade the operator, or use one of %s", kindOf(t), strings.Join(known, ", "))
}

// Provider is the other operator that makes a topology's nodes, "" where this one does.
func Provider(t v1alpha1.TopologySpec) string {
	if t.Type != v1alpha1.TopologyPatroni || t.Patroni == nil || t.Patroni.Provider == v1alpha1.ProviderStatefulSet {
		return ""
	}
	return t.Patroni.Provider
}

// Foreign is the driver of a topology whose nodes another operator makes, nil of others.
func Foreign(t v1alpha1.TopologySpec) topology.Foreign {
	driver, err := For(t)
	if err != nil {
		return nil
	}
	foreign, _ := driver.(topology.Foreign)
	return foreign
}

// Engine of a topology, its type's default where it names none; "" for a type that For refuses.
func Engine(t v1alpha1.TopologySpec) v1alpha1.Engine { return t.EffectiveEngine() }

// Special tells that the engine's usual servers cannot be nodes of the topology: it needs an image of its own.
func Special(t v1alpha1.TopologySpec) bool { return special[kindOf(t)] }

func kindOf(t v1alpha1.TopologySpec) kind { return kind{t.Type, Engine(t)} }
