package director

import (
	"maps"
	"testing"

	"replab.dev/internal/metrics/metricstest"
	"replab.dev/internal/wire"
)

func TestMetricsTellTheState(t *testing.T) {
	r := showing(func() wire.DirectorState {
		return wire.DirectorState{
			Epoch: 3, Primary: "b", Opened: true, Failovers: []wire.DirectedFailover{{}, {}}, Switchovers: []wire.Switchover{{}},
			Nodes: []wire.NodeView{{Name: "a", Role: wire.RoleIsolated}, {Name: "b", Role: wire.RoleWriter}, {Name: "c", Role: wire.RoleReader, CaughtUp: true}, {Name: "unseen"}},
		}
	})
	metricstest.Documented(t, "director", families(), r)
	for family, want := range map[string]map[string]float64{
		"replab_director_epoch":          {"": 3},
		"replab_director_primary_opened": {"b": 1},
		"replab_director_node_role":      {"a/Isolated": 1, "b/Writer": 1, "c/Reader": 1},
		"replab_director_node_caught_up": {"c": 1},
		"replab_director_failovers":      {"": 2},
		"replab_director_switchovers":    {"": 1},
	} {
		if got := metricstest.Values(t, r, family); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", family, got, want)
		}
	}
	none := showing(func() wire.DirectorState { return wire.DirectorState{} })
	if got := metricstest.Values(t, none, "replab_director_epoch"); len(got) > 0 {
		t.Errorf("before there is a primary: epoch %v", got)
	}
}
