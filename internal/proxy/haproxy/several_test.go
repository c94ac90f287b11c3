package haproxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/proxy"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
	"replab.dev/test/unit"
)

// TestWritesStayWhereTheyWereMoved: of several nodes that would take them the first has them, then the one that survived, also when the first
// is back.
func TestWritesStayWhereTheyWereMoved(t *testing.T) {
	p := proxied(t, v1alpha1.WritesPrimary)
	p.until(t, "the first has the writes", "db-0")
	p.never(t, "db-1")
	p.nodes[0].down.Store(true)
	p.until(t, "the second has them", "db-1")
	p.nodes[0].down.Store(false)
	p.readsFrom(t, "db-0") // the proxy has noticed
	p.never(t, "db-0")
	p.nodes[1].down.Store(true)
	p.until(t, "the first has them again", "db-0")
}

// TestWritesGoToAllNodes where routing.writes says so.
func TestWritesGoToAllNodes(t *testing.T) {
	p := proxied(t, v1alpha1.WritesAll)
	p.until(t, "the first has writes", "db-0")
	p.until(t, "the second has writes", "db-1")
}

// node tells its name to each client, and is in the role of a writer and a reader while it is not down.
type node struct {
	name string
	down atomic.Bool
}

type proxyUnderTest struct {
	writes, reads string // addresses
	nodes         [2]*node
}

// proxied starts HAProxy in front of two nodes, with the ports of this machine that are free.
func proxied(t *testing.T, writes v1alpha1.WriteTarget) *proxyUnderTest {
	t.Helper()
	unit.Leave(t)
	root := familytest.Rootfs("REPLAB_HAPROXY_ROOTFS", "haproxy")
	if root == "" {
		familytest.Missing(t, "no HAProxy here: run `make local-rootfs`")
	}
	port := freeport.Ports(t, 5)
	u := &proxyUnderTest{writes: fmt.Sprintf("127.0.0.1:%d", port+2), reads: fmt.Sprintf("127.0.0.1:%d", port+3)}
	p := proxy.Params{
		Spec:   v1alpha1.RoutingSpec{Writes: writes, Check: v1alpha1.RoutingCheck{IntervalMilliseconds: 50, Fall: 2, Rise: 1}},
		Routes: topology.Routes{Port: port, CheckPort: port + 1, WriterPath: "/primary", ReaderPath: "/replica", Several: true},
	}
	for i := range u.nodes {
		u.nodes[i] = &node{name: fmt.Sprintf("db-%d", i)}
		host := fmt.Sprintf("127.0.0.%d", 2+i)
		p.Nodes = append(p.Nodes, wire.Node{Name: u.nodes[i].name, Host: host})
		u.nodes[i].serve(t, host, port)
	}
	text := strings.NewReplacer(
		fmt.Sprintf("bind :%d", wire.PortProxyWrites), fmt.Sprintf("bind 127.0.0.1:%d", port+2), fmt.Sprintf("bind :%d", wire.PortProxyReads), fmt.Sprintf("bind 127.0.0.1:%d", port+3),
		fmt.Sprintf("bind :%d", wire.PortProxyStats), fmt.Sprintf("bind 127.0.0.1:%d", port+4),
	).Replace(config(p))
	file := filepath.Join(t.TempDir(), configFile)
	must(t, os.WriteFile(file, []byte(text), 0o600))
	argv := append(familytest.Linked(root, "usr/sbin/haproxy"), "-db", "-f", file)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...) //nolint:gosec // the tests' own proxy
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return u
}

func (n *node) serve(t *testing.T, host string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, port))
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, n.name)
			conn.Close()
		}
	}()
	checks, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, port+1))
	must(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	t.Cleanup(func() { server.Close() })
	go func() { _ = server.Serve(checks) }()
}

// asked returns the node behind a new connection, "" without one.
func asked(address string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	name, _ := io.ReadAll(conn)
	return string(name)
}

func (u *proxyUnderTest) until(t *testing.T, what, node string) {
	t.Helper()
	await(t, what, func() bool { return asked(u.writes) == node })
}

func (u *proxyUnderTest) readsFrom(t *testing.T, node string) {
	t.Helper()
	await(t, "reads from "+node, func() bool { return asked(u.reads) == node })
}

// never has a node any of the connections of many clients at once.
func (u *proxyUnderTest) never(t *testing.T, node string) {
	t.Helper()
	var had atomic.Int32
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			for range 20 {
				if asked(u.writes) == node {
					had.Add(1)
				}
			}
		})
	}
	clients.Wait()
	if n := had.Load(); n > 0 {
		t.Fatalf("%s has %d of 1000 connections for writes", node, n)
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) { // between two connections
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
