package registry

import (
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
	if _, err := For("Ring"); err == nil || !strings.Contains(err.Error(), "topology.type Ring") || !strings.Contains(err.Error(), "upgrade the operator") {
		t.Errorf("%v", err)
	}
}
