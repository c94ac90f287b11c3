package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

// nobodyUser runs the agent, its server and what would look into the agent: nobody of them may be root, who may everything.
const nobodyUser = 65534

// TestTheAgentIsClosedToTheServersUser has a process of the same user look into the agent and, to see that it looks well, into the
// server; while the agent reads the server's figures and signals it.
func TestTheAgentIsClosedToTheServersUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	cfg := nobody(t)
	dir := filepath.Dir(cfg.StateDir)
	server := sleeper(t)
	cfg.Listen, cfg.SecretDir, cfg.Server, cfg.Process = "127.0.0.1:18301", secrettest.SecretDir(t), server.Args, "sleep"
	allow(t, cfg.SecretDir, dir)
	text, err := json.Marshal(cfg)
	must(t, err)
	file := filepath.Join(dir, "agent.json")
	must(t, os.WriteFile(file, text, 0o644))
	must(t, copySelf(dir))
	must(t, os.Chmod(filepath.Join(dir, "replab"), 0o755)) // what the agent does itself is tried here
	p := agenttest.Start(t, agenttest.Invocation{
		Binary: filepath.Join(dir, "replab"), Command: "agent",
		Arguments: []string{"--config", file}, Env: []string{wire.EnvPodUID + "=" + agenttest.PodUID}, User: nobodyUser,
	})
	p.Listens(t, cfg.Listen)

	if open := peek(t, dir, server.Process.Pid); len(open) != len(insides)+1 {
		t.Fatalf("of the server only %v is open to its own user: this test sees nothing", open)
	}
	if open := peek(t, dir, p.PID); len(open) > 0 {
		t.Errorf("open to the server's user: %v", open)
	}

	a := &running{t: t, url: "http://" + cfg.Listen}
	var used wire.Resources
	if code, body := a.ask("GET", wire.AgentPathResources, nil, &used); code != 200 || used.ServerPID != int64(server.Process.Pid) {
		t.Errorf("the agent cannot read the server's figures: %d %s", code, body)
	}
	if r := a.fault(wire.FaultPause, "pause", -1); !r.Confirmed {
		t.Errorf("the agent cannot pause the server: %+v", r)
	}
	if r := a.fault(wire.FaultKill, "kill", -1); !r.Confirmed {
		t.Errorf("the agent cannot kill the server: %+v", r)
	}
}

// TestACopyIsClosedBeforeItsFirstInstruction tries a process that does nothing for it.
func TestACopyIsClosedBeforeItsFirstInstruction(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	readable, copied := t.TempDir(), t.TempDir()
	allow(t, readable, copied)
	must(t, copySelf(readable))
	must(t, os.Chmod(filepath.Join(readable, "replab"), 0o755))
	p := agenttest.Start(t, agenttest.Invocation{
		Binary: filepath.Join(readable, "replab"), Command: "copy", Arguments: []string{"--to", copied}, User: nobodyUser,
	})
	if code := p.Wait(t); code != 0 {
		t.Fatalf("copy: %s", p.Output(t))
	}
	for _, c := range []struct {
		dir  string
		open int
	}{{readable, len(insides) + 1}, {copied, 0}} {
		p := agenttest.Start(t, agenttest.Invocation{Binary: filepath.Join(c.dir, "replab"), Command: "wait", User: nobodyUser})
		agenttest.Eventually(t, "it runs", func() bool { return strings.Contains(p.Output(t), "running") })
		if open := peek(t, readable, p.PID); len(open) != c.open {
			t.Errorf("of a process from %s are open to its user: %v, want %d things", c.dir, open, c.open)
		}
	}
}

// wait is that process.
func wait() error {
	fmt.Println("running")
	time.Sleep(time.Hour) // until it is killed
	return nil
}

// sleeper is a server that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", fmt.Sprintf("600.%d", os.Getpid())) // no other test's
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyUser, Gid: nobodyUser}}
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd
}

// insides of a process that only its own user may open.
var insides = []string{"environ", "mem", "maps", "io", "fd", "root/", "cwd/"}

// peek has another process of the user look into one, and returns what was open to it.
func peek(t *testing.T, dir string, pid int) []string {
	t.Helper()
	p := agenttest.Start(t, agenttest.Invocation{
		Binary: filepath.Join(dir, "replab"), Command: "peek", Env: []string{fmt.Sprintf("PEEK_INTO=%d", pid)}, User: nobodyUser,
	})
	if code := p.Wait(t); code != 0 {
		t.Fatalf("it cannot peek: %s", p.Output(t))
	}
	return strings.Fields(p.Output(t))
}

// peekInto is that process.
func peekInto() error {
	pid, err := strconv.Atoi(os.Getenv("PEEK_INTO"))
	if err != nil {
		return err
	}
	for _, inside := range insides {
		f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid)) + "/" + inside)
		switch {
		case err == nil:
			_ = f.Close()
			fmt.Println(inside)
		case !errors.Is(err, fs.ErrPermission):
			return err
		}
	}
	err = unix.PtraceSeize(pid)
	if err == nil {
		fmt.Println("ptrace")
	} else if !errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}
