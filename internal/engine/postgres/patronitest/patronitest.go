// Package patronitest starts nodes of PostgreSQL for tests as an experiment has them: Patroni with the configuration and the files of a
// node, its servers, and an API server as its store. Its users have a TestMain with kubetest.Main.
package patronitest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// Scope is the name of a test's cluster; its nodes have it and a number.
const Scope = "a-db"

// Node is a node that ends with its test.
type Node struct {
	Name    string
	Address string // of its server and of Patroni, at the ports that they have on a node
	RunDir  string
	DataDir string

	t      testing.TB
	store  *store
	cmd    *exec.Cmd
	ended  chan struct{}
	output *lockedBuffer
}

// Start starts nodes, the first of which makes the data, and waits until all others stream from it. s is what the experiment says of
// them; what names them is filled in.
func Start(t testing.TB, count int, s engine.Settings) []*Node {
	t.Helper()
	postgrestest.Need(t)
	if !postgrestest.Image() {
		t.Skip("Patroni is run from an unpacked image: run `make local-rootfs`, and the tests as root")
	}
	store := newStore(t, count)
	m := *s.Manager
	m.Scope, m.Namespace, m.Labels, m.ScopeLabel = Scope, store.namespace, labels, scopeLabel
	m.RoleLabel, m.WriterValue, m.ReaderValue = wire.RoleLabel, string(wire.RoleWriter), string(wire.RoleReader)
	s.Manager = &m

	// No two tests have nodes at the same addresses.
	network := fmt.Sprintf("127.%d.%d.", 10+rand.IntN(200), rand.IntN(250))
	var nodes []*Node
	for i := range count {
		n := prepare(t, fmt.Sprintf("%s-%d", Scope, i), fmt.Sprintf("%s%d", network, 2+i), s)
		n.store = store
		n.Run()
		if i == 0 {
			n.Await("it is the leader", "/leader")
		}
		nodes = append(nodes, n)
	}
	for _, n := range nodes[1:] {
		n.Await("it streams", "/replica")
	}
	return nodes
}

func prepare(t testing.TB, name, address string, s engine.Settings) *Node {
	t.Helper()
	dir := postgrestest.Dir(t)
	n := &Node{Name: name, Address: address, RunDir: filepath.Join(dir, "run"), DataDir: filepath.Join(dir, "data"), t: t}
	must(t, os.Mkdir(n.RunDir, 0o700))
	postgrestest.Own(t, n.RunDir)
	program := postgres.Server{}.Program(engine.Place{DataDir: n.DataDir, RunDir: n.RunDir, TmpDir: "/tmp", Port: postgres.Port}, s)
	for _, file := range (postgres.Server{}).Files(program.Config, n.params()) {
		text := file.Content
		for _, account := range wire.Accounts() {
			text = strings.ReplaceAll(text, "@secret:"+account+"@", postgrestest.Password)
		}
		text = strings.ReplaceAll(text, "'*:", "'"+address+":") // all nodes share one machine
		n.write(file, text)
	}
	return n
}

func (n *Node) params() engine.ManagerParams {
	return engine.ManagerParams{Name: n.Name, Address: n.Address, DataDir: n.DataDir, RunDir: n.RunDir, Binary: wire.BinDir + "/replab"}
}

// Replace replaces a program of the node's RunDir.
func (n *Node) Replace(name, text string) {
	n.t.Helper()
	n.write(engine.RunFile{Name: name, Executable: true}, text)
}

func (n *Node) write(file engine.RunFile, text string) {
	n.t.Helper()
	mode := os.FileMode(0o600)
	if file.Executable {
		mode = 0o755
	}
	path := filepath.Join(n.RunDir, file.Name)
	must(n.t, os.WriteFile(path, []byte(text), mode))
	postgrestest.Own(n.t, path)
}

// Run starts the node's Patroni, after Kill or Stop.
func (n *Node) Run() {
	n.t.Helper()
	start := postgres.Server{}.Manager(n.params())
	n.cmd = postgrestest.Command(n.t, start.Argv[0], start.Argv[1:]...)
	n.cmd.Env = append(n.cmd.Env, start.Env...)
	// The image's own PATH, as a container has it.
	n.cmd.Env = append(n.cmd.Env, n.store.env...)
	n.cmd.Env = append(n.cmd.Env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	n.output, n.ended = &lockedBuffer{}, make(chan struct{})
	n.cmd.Stdout, n.cmd.Stderr = n.output, n.output
	n.cmd.WaitDelay = time.Second // a server that outlives its Patroni keeps the output open
	started := make(chan error, 1)
	go func() { // it goes with the thread that forks: keep that
		runtime.LockOSThread()
		err := n.cmd.Start()
		started <- err
		if err == nil {
			_ = n.cmd.Wait()
		}
		close(n.ended)
	}()
	must(n.t, <-started)
	n.t.Cleanup(n.Stop)
}

// Stop ends Patroni, and with it the server, in good order, or at once where that takes long.
func (n *Node) Stop() {
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
		n.killServer() // Patroni that is paused leaves it
	case <-time.After(time.Minute):
		n.Kill()
	}
}

// Kill ends Patroni and the server's first process, whose others go with it.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	n.killServer()
	<-n.ended
}

// killServer does nothing where none runs, also where another process has got the number that one had.
func (n *Node) killServer() {
	text, _ := os.ReadFile(filepath.Join(n.DataDir, "postmaster.pid"))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var pid int
	if _, err := fmt.Sscan(string(line), &pid); err != nil {
		return
	}
	if argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(argv, []byte(n.DataDir)) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Log is what Patroni and the server have written.
func (n *Node) Log() string { return n.output.String() }

// Ask asks Patroni and returns its answer's status, 0 where there is none.
func (n *Node) Ask(method, path, body string) (status int) {
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(n.Address, "8008"), Path: path}
	request, err := http.NewRequestWithContext(n.t.Context(), method, u.String(), strings.NewReader(body))
	must(n.t, err)
	request.SetBasicAuth("replab", postgrestest.Password)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// Await waits until Patroni answers a question with yes.
func (n *Node) Await(what, path string) {
	n.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-n.ended:
			n.t.Fatalf("%s ended:\n%s", n.Name, n.Log())
		default:
		}
		if n.Ask(http.MethodGet, path, "") == http.StatusOK {
			return
		}
	}
	n.t.Fatalf("%s: waited two minutes until %s:\n%s", n.Name, what, n.Log())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
