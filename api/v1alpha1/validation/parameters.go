package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
)

// parameters: settings of another engine's servers, and those that are not an experiment's to choose.
func parameters(s *spec) {
	if s.server == nil {
		return
	}
	path, foreign := at("topology.parameters"), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Topology.Parameters)) {
		if owners := s.owners(name); len(owners) > 0 {
			foreign[name] = true
			s.refuse(true, path.Key(name), fmt.Sprintf("%s is a setting of %s. Remove it, or change topology.engine.", name, strings.Join(owners, " and ")))
		}
	}
	for _, refusal := range s.server.RefuseParameters(s.Topology.Parameters) {
		s.refuse(!foreign[refusal.Name], path.Key(refusal.Name), refusal.Why)
	}
}

// owners are the other engines that have a setting which this engine lacks.
func (s *spec) owners(name string) (owners []string) {
	if s.server.Knows(name) {
		return nil
	}
	for _, engine := range []v1alpha1.Engine{v1alpha1.EngineMySQL, v1alpha1.EngineMariaDB, v1alpha1.EnginePostgreSQL} {
		if other := s.servers[engine]; other != nil && other.Knows(name) {
			owners = append(owners, string(engine))
		}
	}
	return owners
}
