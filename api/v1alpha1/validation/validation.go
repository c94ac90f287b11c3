// Package validation holds the rules of a spec that join several fields. It is pure: the operator, `kubectl replab check` and tests run the same
// code. The CRD has defaulted the spec and checked each field by itself before.
package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// spec is a spec under validation, with what several rules ask of it.
type spec struct {
	v1alpha1.ReplicationExperimentSpec
	name    string
	engine  v1alpha1.Engine
	server  Server // nil for an unknown engine
	servers Servers
	errs    field.ErrorList
}

// rules in the order in which their errors are listed, a file each.
var rules = []func(*spec){
	topology, patroni, parameters, resources, volume, distance, routing, load, stagesWithoutDistance, faults, probes, goals, pods, run,
}

// Experiment lists everything that is wrong with an experiment's spec.
func Experiment(x *v1alpha1.ReplicationExperiment, servers Servers) field.ErrorList {
	s := &spec{ReplicationExperimentSpec: x.Spec, name: x.Name, engine: x.Spec.Topology.EffectiveEngine(), servers: servers}
	s.server = servers[s.engine]
	for _, rule := range rules {
		rule(s)
	}
	return s.errs
}

// Describe is how people are told of an error: the field, then what is wrong with it and what to write instead.
func Describe(err *field.Error) string {
	switch {
	case err.Field == "<nil>": // a rule of the whole object: its message names the field
		return err.Detail
	case err.Type == field.ErrorTypeInvalid && err.Detail != "":
		return err.Field + ": " + err.Detail
	}
	return err.Error()
}

// Sentences of errors, each once, in their order.
func Sentences(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		if sentence := Describe(err); !slices.Contains(all, sentence) {
			all = append(all, sentence)
		}
	}
	return all
}

// Message is all errors in one text, a line each.
func Message(errs field.ErrorList) string { return strings.Join(Sentences(errs), "\n") }

// at is the path of a field of the spec; numbers are items of lists.
func at(names ...any) *field.Path {
	path := field.NewPath("spec")
	for _, name := range names {
		switch name := name.(type) {
		case string:
			for _, part := range strings.Split(name, ".") {
				path = path.Child(part)
			}
		case int:
			path = path.Index(name)
		}
	}
	return path
}

// refuse a field where wrong, with a message.
func (s *spec) refuse(wrong bool, path *field.Path, message string) {
	if wrong {
		s.errs = append(s.errs, &field.Error{Type: field.ErrorTypeInvalid, Field: path.String(), BadValue: field.OmitValueType{}, Detail: message})
	}
}

// postgres tells that Patroni runs the servers.
func (s *spec) postgres() bool { return s.engine == v1alpha1.EnginePostgreSQL }

// zalando tells that the Zalando operator makes the nodes.
func (s *spec) zalando() bool {
	return s.Topology.Patroni != nil && s.Topology.Patroni.Provider == v1alpha1.ProviderZalando
}

// replication tells that the director manages the nodes.
func (s *spec) replication() bool {
	t := s.Topology.Type
	return !s.postgres() && (t == v1alpha1.TopologySingle || t == v1alpha1.TopologyAsync || t == v1alpha1.TopologySemiSync)
}

// semiSync is how many replicas acknowledge a commit, and how long it waits for them at most. Without semi-sync both are 0.
func (s *spec) semiSync() (acks int32, timeoutMilliseconds int64) {
	switch t := s.Topology; {
	case s.dualPrimary() && (t.DualPrimary == nil || t.DualPrimary.SemiSync == nil || *t.DualPrimary.SemiSync):
		return 1, 10000
	case t.Type != v1alpha1.TopologySemiSync:
		return 0, 0
	case t.SemiSync != nil:
		return t.SemiSync.AckReplicas, t.SemiSync.TimeoutMilliseconds
	}
	return 1, 10000
}

func (s *spec) galera() bool { return s.Topology.Type == v1alpha1.TopologyGalera }

// dualPrimary tells that two servers take writes, and replicate from each other.
func (s *spec) dualPrimary() bool { return s.Topology.Type == v1alpha1.TopologyDualPrimary }

// zone of a node, -1 where it is in none.
func (s *spec) zone(node int) int {
	return slices.IndexFunc(s.Topology.Zones, func(z v1alpha1.Zone) bool { return slices.Contains(z.Nodes, int32(node)) })
}
