package director

import (
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

func TestValidate(t *testing.T) {
	if err := validate(deployed().cfg); err != nil {
		t.Fatalf("a good configuration was refused: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*wire.DirectorConfig)
		want   string
	}{
		"no probe interval":              {func(c *wire.DirectorConfig) { c.ProbeMilliseconds = 0 }, "probeMilliseconds"},
		"no number of failures":          {func(c *wire.DirectorConfig) { c.FailureThreshold = 0 }, "failureThreshold"},
		"a lease shorter than a look":    {func(c *wire.DirectorConfig) { c.LeaseMilliseconds = 1100 }, "at least 1200"},
		"as many acknowledgers as nodes": {func(c *wire.DirectorConfig) { c.SemiSync = &wire.SemiSync{AckReplicas: 3} }, "must be 1 to 2"},
		"no acknowledger":                {func(c *wire.DirectorConfig) { c.SemiSync = &wire.SemiSync{} }, "must be 1 to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := deployed().cfg
			c.change(&cfg)
			if err := validate(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	a := addresses(wire.DirectorConfig{Nodes: []wire.Node{{Name: "n-0", Host: "n-0.nodes"}}, Port: 4000})[0]
	if a.hostPort() != "n-0.nodes:4000" || a.AgentURL != "http://n-0.nodes:8300" {
		t.Errorf("address is %+v", a)
	}
}
