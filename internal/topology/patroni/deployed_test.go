package patroni

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestDeployedIsOnlyWhatTheTopologySays: each of these is still missing something.
func TestDeployedIsOnlyWhatTheTopologySays(t *testing.T) {
	quorum := func(p *topology.Params) {}
	on := func(p *topology.Params) {
		p.Spec.Patroni = ptr.To(defaults)
		p.Spec.Patroni.SynchronousMode = "On"
	}
	for name, c := range map[string]struct {
		params func(*topology.Params)
		change func(map[string]*wire.ManagerState)
		why    string // "" where nothing is
	}{
		"in order": {quorum, func(map[string]*wire.ManagerState) {}, ""},
		"Patroni of the writer knows of two nodes": {quorum, func(all map[string]*wire.ManagerState) { all["a-db-0"].Members = 2 }, "2 running servers of 3"},
		"commits wait for nobody yet":              {quorum, func(all map[string]*wire.ManagerState) { all["a-db-0"].Waits = false }, "do not wait"},
		"a quorum of one":                          {quorum, func(all map[string]*wire.ManagerState) { all["a-db-2"].Synchronous = false }, "1 synchronous standbys, and 2 are needed"},
		"settings are not known":                   {quorum, func(all map[string]*wire.ManagerState) { all["a-db-0"].Config = nil }, "not known yet"},
		"a setting is another one": {quorum, func(all map[string]*wire.ManagerState) {
			all["a-db-0"].Config["ttl"] = "31"
		}, `ttl "31", and is to with "30"`},
		"one of two is waited for by name": {on, func(all map[string]*wire.ManagerState) {
			all["a-db-0"].Config["synchronous_mode"] = "true"
			all["a-db-2"].Synchronous = false
		}, ""},
		"it is to be paused": {func(p *topology.Params) { p.Spec.Failover = v1alpha1.FailoverNone }, func(all map[string]*wire.ManagerState) {
			all["a-db-2"].Paused = false
		}, "a-db-2 is not paused"},
		"it is paused": {func(p *topology.Params) { p.Spec.Failover = v1alpha1.FailoverNone }, func(map[string]*wire.ManagerState) {}, ""},
		"Async waits for nobody": {func(p *topology.Params) { p.Spec.Type = v1alpha1.TopologyAsync }, func(all map[string]*wire.ManagerState) {
			all["a-db-0"].Waits, all["a-db-1"].Synchronous, all["a-db-2"].Synchronous = false, false, false
			all["a-db-0"].Config["synchronous_mode"] = "false"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, all := params(), trio()
			c.params(&p)
			c.change(all)
			if state := assess(t, p, all); state.Deployed != (c.why == "") || !strings.Contains(state.Why, c.why) {
				t.Errorf("deployed: %v, since %q; want %q", state.Deployed, state.Why, c.why)
			}
		})
	}
}

// TestAnEngineThatSaysNotWhatIsKeptIsRefused, and nothing that it runs is ever deployed: nobody would look at what Patroni decides by.
func TestAnEngineThatSaysNotWhatIsKeptIsRefused(t *testing.T) {
	p := params()
	p.Server = struct{ engine.Server }{p.Server}
	if _, err := (Driver{}).System(p); err == nil || !strings.Contains(err.Error(), "engine PostgreSQL does not say") {
		t.Errorf("its system is stated: %v", err)
	}
	if state := assess(t, p, trio()); state.Deployed || !strings.Contains(state.Why, "does not say which settings") {
		t.Errorf("deployed: %v, since %q", state.Deployed, state.Why)
	}
}
