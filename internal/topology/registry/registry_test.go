package registry

import (
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
)

func TestEachTopologyHasADriverAndAnEngine(t *testing.T) {
	for kind := range topologies {
		if d, err := For(kind); d == nil || err != nil {
			t.Errorf("%s has no driver: %v", kind, err)
		}
		if Engine(v1alpha1.TopologySpec{Type: kind}) == "" {
			t.Errorf("%s has no engine", kind)
		}
	}
	if got := Engine(v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Engine: "MariaDB"}); got != "MariaDB" {
		t.Errorf("the engine is %s, want the one that the topology names", got)
	}
}

func TestATypeWithoutADriverIsAnErrorThatSaysWhatToDo(t *testing.T) {
	_, err := For("Ring")
	if err == nil || !strings.Contains(err.Error(), "topology.type Ring") || !strings.Contains(err.Error(), "upgrade the operator") {
		t.Fatalf("%v", err)
	}
	_, known, _ := strings.Cut(err.Error(), "use one of ")
	for kind := range topologies {
		if !slices.Contains(strings.Fields(known), string(kind)) {
			t.Errorf("%v: want %s among those to use", err, kind)
		}
	}
}
