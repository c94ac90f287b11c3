package director

import (
	"strings"
	"testing"

	"replab.dev/internal/wire"
)

func TestALeaseOutlastsALook(t *testing.T) {
	cfg := deployed().cfg
	if err := validate(cfg); err != nil {
		t.Fatalf("a good configuration was refused: %v", err)
	}
	cfg.LeaseMilliseconds = 1100
	if err := validate(cfg); err == nil || !strings.Contains(err.Error(), "at least 1200") {
		t.Errorf("error is %v", err)
	}
}

func TestAddresses(t *testing.T) {
	a := addresses(wire.DirectorConfig{Nodes: []wire.Node{{Name: "n-0", Host: "n-0.nodes"}}, Port: 4000})[0]
	if a.hostPort() != "n-0.nodes:4000" || a.AgentURL != "http://n-0.nodes:8300" {
		t.Errorf("address is %+v", a)
	}
}
