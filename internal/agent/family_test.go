package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
)

// A manager that is a script is its interpreter's process, with the script's name and arguments.
func TestAManagerThatIsAScriptIsFound(t *testing.T) {
	dir := t.TempDir()
	script, config := filepath.Join(dir, "manager-script"), filepath.Join(dir, "config")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\nsleep 600 &\nwait\n"), 0o755))
	none := proc.NewFinder("sh", func([]string) bool { return false })
	family := func(config string) *proc.Family {
		return familyOf(wire.AgentConfig{Manager: &wire.ManagerConfig{Argv: []string{"manager-script", config}, Process: "manager-script"}}, none)
	}
	cmd := exec.Command(script, config)
	must(t, cmd.Start())
	t.Cleanup(func() {
		all, _ := family(config).All()
		for _, p := range slices.Backward(all) {
			if h, err := p.Open(); err == nil {
				_ = h.Signal(9)
				_ = h.Close()
			}
		}
		_ = cmd.Wait()
	})
	agenttest.Eventually(t, "it is found with its child", func() bool {
		all, err := family(config).All()
		return err == nil && len(all) == 2 && all[0].PID == cmd.Process.Pid
	})
	if all, err := family(config + "2").All(); err == nil {
		t.Errorf("one with another configuration is found: %v", all)
	}
	if familyOf(wire.AgentConfig{}, none).Managed() {
		t.Error("a server that nobody manages has a manager")
	}
}
