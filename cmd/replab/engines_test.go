package main

import (
	"reflect"
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/witness"
)

// lacks are the roles that an engine has no use for.
var lacks = map[v1alpha1.Engine][]string{}

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
	lacking(t, func(r roles) witness.Engine { return r.probed })
}

func lacking[Role any](t *testing.T, of func(roles) Role) {
	t.Helper()
	if role, err := pick(of).For("Other"); err == nil {
		t.Errorf("%T is found, and the engine has none", role)
	}
}
