package main

import (
	"reflect"
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/recorder"
)

// lacks are the roles that an engine has no use for.
var lacks = map[v1alpha1.Engine][]string{v1alpha1.EnginePostgreSQL: {"admin"}}

func TestEveryEngineHasEveryRoleThatItHasAUseFor(t *testing.T) {
	for name, r := range engines {
		v := reflect.ValueOf(r)
		for i := range v.NumField() {
			role := v.Type().Field(i).Name
			if has, none := !v.Field(i).IsZero(), slices.Contains(lacks[name], role); has == none {
				t.Errorf("engine %s has role %s: %v, and is listed as one without: %v", name, role, has, none)
			}
		}
	}
}

// Engines by what topologies want of them beside the roles that every one has.
var (
	readAlone = []v1alpha1.Engine{v1alpha1.EngineMySQL, v1alpha1.EngineMariaDB, v1alpha1.EnginePostgreSQL} // servers are read before they join again
	grouped   = []v1alpha1.Engine{v1alpha1.EngineMySQL, v1alpha1.EngineMariaDB}                            // servers are members of a group
	copied    = []v1alpha1.Engine{v1alpha1.EngineMariaDB}                                                  // start wrappers copy the data
	paired    = []v1alpha1.Engine{v1alpha1.EngineMySQL, v1alpha1.EngineMariaDB}                            // two servers replicate from each other
	managed   = []v1alpha1.Engine{v1alpha1.EnginePostgreSQL}                                               // a manager runs the servers
)

// TestEnginesHaveAllThatTopologiesAskOfThem: most of it is asked for when it is needed, in the middle of a run.
func TestEnginesHaveAllThatTopologiesAskOfThem(t *testing.T) {
	for name, r := range engines {
		client, err := r.local.Client("/run/nobody/.s.5432", "") // it connects when it is used
		if err != nil {
			t.Fatalf("engine %s: %v", name, err)
		}
		defer client.Close()
		for _, role := range []struct {
			name string
			has  bool
			of   []v1alpha1.Engine
		}{
			{"engine.Alone", is[engine.Alone](r.starter), readAlone},
			{"engine.RowOpener", is[engine.RowOpener](r.local), readAlone},
			{"engine.Grouped", is[engine.Grouped](r.starter), grouped},
			{"engine.Member", is[engine.Member](client), grouped},
			{"engine.Paired", is[engine.Paired](r.local), paired},
			{"engine.Copier", is[engine.Copier](r.starter), copied},
			{"engine.Described", is[engine.Described](r.server), managed},
			{"engine.Managed", is[engine.Managed](r.starter), managed},
			{"engine.Log", is[engine.Log](r.starter), managed},
			{"engine.ManagedLocal", is[engine.ManagedLocal](r.local), managed},
			{"engine.Positioned", is[engine.Positioned](client), managed},
		} {
			if want := slices.Contains(role.of, name); role.has != want {
				t.Errorf("engine %s has an %s: %v, and is to have one: %v", name, role.name, role.has, want)
			}
		}
	}
}

// is tells whether something does more than its type says.
func is[More any](v any) bool {
	_, ok := v.(More)
	return ok
}

// A role is an interface, a function or a struct.
func TestARoleThatAnEngineLacksIsNotFound(t *testing.T) {
	const other = "Other"
	engines[other] = roles{server: engines[v1alpha1.EngineMySQL].server}
	defer delete(engines, other)
	if _, err := pick(func(r roles) engine.Server { return r.server }).For(other); err != nil {
		t.Errorf("a role that the engine has: %v", err)
	}
	lacking(t, func(r roles) engine.Starter { return r.starter })
	lacking(t, func(r roles) engine.OpenAdmin { return r.admin })
	lacking(t, func(r roles) recorder.Engine { return r.probed })
}

func lacking[Role any](t *testing.T, of func(roles) Role) {
	t.Helper()
	if role, err := pick(of).For("Other"); err == nil {
		t.Errorf("%T is found, and the engine has none", role)
	}
}
