// Package agenttest runs nodes for tests as their pods would: a real server under the real start wrapper, which is the
// test binary itself. A test package that uses it runs the subcommand in the environment variable Command in TestMain.
package agenttest

import (
	"cmp"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

// Command is the environment variable that has the test binary be a subcommand of replab.
const Command = "REPLAB_TEST_COMMAND"

// Patience is how long Eventually waits: a busy machine takes a minute to make the data of a server.
const Patience = 5 * time.Minute

// PodUID of each node's pod.
const PodUID = "pod-uid"

// Node is a node's volume, and the configuration of its agent and of its wrapper.
type Node struct {
	Server *enginetest.Server // prepared, not started
	Agent  wire.AgentConfig
	Config wire.ServerConfig
	File   string // Config as a file
	TmpDir string // of the wrapper

	t testing.TB
}

// NewNode prepares a node that has no data yet.
func NewNode(t testing.TB, opts ...enginetest.Option) *Node {
	t.Helper()
	return NewNodeOf(t, enginetest.Default, opts...)
}

// NewNodeOf prepares a node of an engine that has no data yet.
func NewNodeOf(t testing.TB, flavor enginetest.Flavor, opts ...enginetest.Option) *Node {
	t.Helper()
	s := flavor.Prepare(t, "node", opts...)
	argv, comm := s.Command()
	n := &Node{Server: s, File: filepath.Join(t.TempDir(), "agent.json"), TmpDir: t.TempDir(), t: t}
	holds, secrets := filepath.Join(s.Dir, "state", "holds"), secrettest.SecretDir(t)
	n.Agent = wire.AgentConfig{
		Listen: "127.0.0.1:0", Engine: flavor.Engine, Server: argv, Process: comm, Socket: s.Socket,
		StateDir: filepath.Join(s.Dir, "state"), HoldDir: holds, SecretDir: secrets, Leases: true,
	}
	n.Config = wire.ServerConfig{
		Engine: flavor.Engine, Server: argv, Socket: s.Socket, DataDir: filepath.Join(s.Dir, "data"), HoldDir: holds, SecretDir: secrets, CopyPort: s.CopyPort,
	}
	text, err := json.Marshal(n.Config)
	must(t, err)
	must(t, os.WriteFile(n.File, text, 0o600))
	return n
}

// WithData gives the node its data, for tests that are not about how the wrapper makes them.
func (n *Node) WithData() *Node {
	n.t.Helper()
	n.Server.Initialize()
	return n
}

// Process is a running subcommand, which ends with its test.
type Process struct {
	PID    int
	Log    string // file with its output
	Exited chan int

	cmd *exec.Cmd
}

// Wrapper starts `replab server` for the node.
func (n *Node) Wrapper() *Process {
	n.t.Helper()
	return Start(n.t, Invocation{
		Command: "server", Arguments: []string{"--config", n.File}, Env: []string{"TMPDIR=" + n.TmpDir, wire.EnvPodName + "=node-3"},
	})
}

// Invocation of a subcommand.
type Invocation struct {
	Binary    string // empty: this test's
	Command   string
	Arguments []string
	Env       []string // beside this test's
	User      uint32   // and its group; 0: this test's
}

// Start runs a subcommand.
func Start(t testing.TB, i Invocation) *Process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), i.Command+".log"))
	must(t, err)
	defer log.Close()
	p := &Process{Log: log.Name(), Exited: make(chan int, 1)}
	p.cmd = exec.Command(cmp.Or(i.Binary, "/proc/self/exe"), i.Arguments...)
	p.cmd.Env = append(append(os.Environ(), i.Env...), Command+"="+i.Command)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if i.User != 0 {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: i.User, Gid: i.User}
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig follows the thread that forks
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			p.Exited <- p.cmd.ProcessState.ExitCode()
		}
	}()
	must(t, <-started)
	p.PID = p.cmd.Process.Pid
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// Signal sends a signal to the subcommand itself.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	must(t, p.cmd.Process.Signal(s))
}

// Output is what it has written so far.
func (p *Process) Output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(p.Log)
	must(t, err)
	return string(text)
}

// Wait waits for its end and returns its exit code, -1 when a signal ended it.
func (p *Process) Wait(t testing.TB) int {
	t.Helper()
	select {
	case code := <-p.Exited:
		return code
	case <-time.After(Patience):
		t.Fatalf("the process did not end; it wrote:\n%s", p.Output(t))
		return 0
	}
}

// Listens waits until the subcommand takes connections at an address. It fails at once if it ends.
func (p *Process) Listens(t testing.TB, address string) {
	t.Helper()
	Eventually(t, "it listens at "+address, func() bool {
		if len(p.Exited) > 0 {
			t.Fatalf("it ended:\n%s", p.Output(t))
		}
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
}

// Ready waits until the node's server answers. It fails at once if the wrapper ends.
func (n *Node) Ready(p *Process) {
	n.t.Helper()
	db := n.Server.DB(wire.AccountAdmin, "")
	defer db.Close()
	Eventually(n.t, "the server answers", func() bool {
		select {
		case code := <-p.Exited:
			n.t.Fatalf("the wrapper ended with %d:\n%s", code, p.Output(n.t))
		default:
		}
		return db.Ping() == nil
	})
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(Patience); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("not so within %s: %s", Patience, what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
