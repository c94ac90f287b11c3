package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

func TestRunAsGoesOnAsAnotherUserWithNetAdminAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	cfg := nobody(t)
	cfg.Listen, cfg.SecretDir = "127.0.0.1:18300", secrettest.SecretDir(t) // the namespace's own port
	allow(t, cfg.SecretDir, filepath.Dir(cfg.StateDir))
	text, err := json.Marshal(cfg)
	must(t, err)
	file := filepath.Join(filepath.Dir(cfg.StateDir), "agent.json")
	must(t, os.WriteFile(file, text, 0o644))

	must(t, copySelf(filepath.Dir(cfg.StateDir))) // this test's own binary is in a folder of root's

	p := agenttest.Start(t, agenttest.Invocation{
		Binary: filepath.Join(filepath.Dir(cfg.StateDir), "replab"), Command: "agent",
		Arguments: []string{"--config", file, "--run-as", "65534"}, Env: []string{wire.EnvPodUID + "=" + agenttest.PodUID},
	})
	p.Listens(t, cfg.Listen)
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	must(t, err)
	for _, line := range []string{"Uid:\t65534\t65534\t65534\t65534", "Gid:\t65534\t65534\t65534\t65534", "CapEff:\t0000000000001000", "CapPrm:\t0000000000001000"} {
		if !bytes.Contains(status, []byte(line+"\n")) {
			t.Errorf("its status has no %q:\n%s", line, status)
		}
	}
	a := &running{t: t, url: "http://" + cfg.Listen}
	if r := a.fault(wire.FaultPartition, "cut", -1, "127.0.0.9"); !r.Confirmed {
		t.Errorf("it cannot cut: %+v", r)
	}
	a.release("cut")
	p.Signal(t, syscall.SIGTERM)
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM:\n%s", code, p.Output(t))
	}
}

func TestCopyIsThisBinary(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "replab"), []byte("an older one"), 0o600))
	must(t, copySelf(dir))
	self, err := os.Executable()
	must(t, err)
	want, err := os.ReadFile(self)
	must(t, err)
	info, err := os.Stat(filepath.Join(dir, "replab"))
	must(t, err)
	must(t, os.Chmod(filepath.Join(dir, "replab"), 0o755))
	got, err := os.ReadFile(filepath.Join(dir, "replab"))
	must(t, err)
	if !bytes.Equal(got, want) || info.Mode().Perm() != copyMode {
		t.Errorf("%d bytes with mode %v, want %d with %o", len(got), info.Mode(), len(want), copyMode)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("%d files were left", len(entries))
	}
}

// allow lets everybody use folders and what is in them, and enter those above.
func allow(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		for up := filepath.Dir(dir); up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
			must(t, os.Chmod(up, 0o755))
		}
		must(t, os.Chmod(dir, 0o777))
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			must(t, os.Chmod(filepath.Join(dir, e.Name()), 0o644))
		}
	}
}
