package registry

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// TestEachTypeHasADriverForTheEngineThatItRunsUnlessItNamesOne, and each engine that it may name one too.
func TestEachTypeHasADriverForTheEngineThatItRunsUnlessItNamesOne(t *testing.T) {
	for k, driver := range drivers {
		if d, err := For(v1alpha1.TopologySpec{Type: k.of, Engine: k.engine}); d != driver || err != nil {
			t.Errorf("%s has the driver %T, want %T: %v", k, d, driver, err)
		}
		if d, err := For(v1alpha1.TopologySpec{Type: k.of}); d == nil || err != nil {
			t.Errorf("%s has no driver without an engine: %v", k.of, err)
		}
	}
	if got := Engine(v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Engine: "MariaDB"}); got != "MariaDB" {
		t.Errorf("the engine is %s, want the one that the topology names", got)
	}
}

// TestSpecialKindsHaveDrivers: an image is asked for only where something runs it.
func TestSpecialKindsHaveDrivers(t *testing.T) {
	for k := range special {
		if drivers[k] == nil {
			t.Errorf("%s has an image of its own, and no driver", k)
		}
	}
}

func TestATopologyWithoutADriverIsAnErrorThatSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		spec v1alpha1.TopologySpec
		want string
	}{
		{v1alpha1.TopologySpec{Type: "Ring"}, "topology.type Ring is"},
		{v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Engine: "Other"}, "topology.type Async with Other is"},
	} {
		_, err := For(c.spec)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "upgrade the operator") {
			t.Fatalf("%v", err)
		}
		_, known, _ := strings.Cut(err.Error(), "use one of ")
		for k := range drivers {
			if !slices.Contains(strings.Split(known, ", "), k.String()) {
				t.Errorf("%v: want %s among those to use", err, k)
			}
		}
	}
}

// TestNodesOfAnotherOperatorHaveADriverOfTheirOwn, where the type is one that has providers.
func TestNodesOfAnotherOperatorHaveADriverOfTheirOwn(t *testing.T) {
	zalando := &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando}
	for _, c := range []struct {
		spec    v1alpha1.TopologySpec
		foreign bool
	}{
		{v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Patroni: zalando}, true},
		{v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Patroni: &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderStatefulSet}}, false},
		{v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni}, false},
		{v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Patroni: zalando}, false},
		{v1alpha1.TopologySpec{Type: "Ring"}, false},
	} {
		if got := Foreign(c.spec); (got != nil) != c.foreign {
			t.Errorf("%+v: the driver of another operator's is %T", c.spec, got)
		}
	}
	for name, driver := range providers {
		if _, ok := driver.(topology.Foreign); !ok {
			t.Errorf("%s is another operator, and its driver %T knows none", name, driver)
		}
	}
}
