package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// TestOnlyTheSecondWaitsForTheFirst before it is to take writes. No server runs.
func TestOnlyTheSecondWaitsForTheFirst(t *testing.T) {
	secrets := t.TempDir()
	must(t, os.WriteFile(filepath.Join(secrets, wire.AccountReplication), []byte(enginetest.Password), 0o600))
	nodes := []wire.Node{{Name: "a-db-0", Host: "127.0.0.1"}, {Name: "a-db-1", Host: "127.0.0.1"}}
	for i, node := range nodes {
		p, err := NewPart(part.Node{
			Name: node.Name, Engine: enginetest.Default.Roles, Password: enginetest.Password,
			Config: wire.AgentConfig{StateDir: t.TempDir(), SecretDir: secrets, Pair: &wire.PairConfig{Nodes: nodes, Port: 3306}},
		})
		must(t, err)
		m := p.(*Member)
		t.Cleanup(func() { must(t, m.admin.Close()) })
		if m.source.Name != nodes[1-i].Name {
			t.Errorf("%s replicates from %s", node.Name, m.source.Name)
		}
		if writes, why := m.Writes(); writes != (i == 0) || writes != (why == "") {
			t.Errorf("%s is to take writes before the other one is known: %t %q", node.Name, writes, why)
		}
		m.peerPlaced = time.Now().Add(-firstAhead)
		if writes, why := m.Writes(); !writes {
			t.Errorf("%s is not to take writes after the other one was found: %s", node.Name, why)
		}
	}
}
