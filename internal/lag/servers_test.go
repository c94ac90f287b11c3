package lag

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/wire"
)

// follow starts servers, the first open and the source of the others.
func follow(t testing.TB, names ...string) []*enginetest.Server {
	t.Helper()
	return followOn(t, enginetest.Default, names...)
}

// opens are how a probe speaks with servers, by their engine.
var opens = map[string]Open{"MySQL": Opens(mysql.NewLag), "MariaDB": Opens(mariadb.NewLag)}

// followOn starts servers of an engine.
func followOn(t testing.TB, flavor enginetest.Flavor, names ...string) []*enginetest.Server {
	t.Helper()
	var servers []*enginetest.Server
	for _, name := range names {
		servers = append(servers, flavor.Start(t, name))
	}
	servers[0].Open()
	for _, s := range servers[1:] {
		s.Replicate(servers[0])
	}
	return servers
}

var rowIDs atomic.Uint64

// configure returns a probe's configuration that watches servers and writes to an address.
func configure(t testing.TB, writes wire.Endpoint, servers ...*enginetest.Server) Config {
	c := Config{
		Open: opens[enginetest.Default.Engine], Writes: writes, Secret: enginetest.Password, Interval: 20 * time.Millisecond, PayloadBytes: []int64{100},
		ProbeIDs: func() uint64 { return rowIDs.Add(1) }, Log: slog.New(slog.NewTextHandler(testLog{t}, nil)),
		Address: func(n wire.Node) string { return n.Host },
	}
	if len(servers) > 0 {
		c.Open = opens[servers[0].Flavor.Engine]
	}
	for _, s := range servers { // the servers share a host's name: only their identities tell them apart
		c.Nodes = append(c.Nodes, wire.Node{Name: s.Name, Host: fmt.Sprintf("127.0.0.1:%d", s.Port)})
	}
	return c
}

type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// running is a probe in the background.
type running struct {
	*Probe
	t    testing.TB
	stop func() wire.LagResult
}

func start(t testing.TB, c Config) running {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	stop := sync.OnceValue(func() wire.LagResult {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		return p.Result()
	})
	t.Cleanup(func() { stop() })
	return running{p, t, stop}
}

// until waits for a condition on the result so far.
func (r running) until(what string, holds func(wire.LagResult) bool) {
	r.t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // on a busy machine
	for !holds(r.Result()) {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within five minutes: %s\n%s", what, describe(r.Result()))
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

func describe(r wire.LagResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "acknowledged %d, discarded %d, missed %d\n", r.Acknowledged, r.Discarded, r.Missed)
	line := func(name string, d wire.LagDistribution) {
		fmt.Fprintf(&b, "%-10s samples %d censored %d unseen %d lost %d p50 %s p99 %s max %s resolution p50 %s oldest %s µs", name,
			d.Samples, d.Censored, d.Unseen, d.Lost, number(d.P50Microseconds), number(d.P99Microseconds),
			number(d.MaxMicroseconds), number(d.ResolutionP50Microseconds), number(d.OldestUnseenMicroseconds))
	}
	for _, n := range r.Nodes {
		line(n.Name, n.LagDistribution)
		fmt.Fprintf(&b, ", engine's transport %s apply %s\n", number(n.EngineTransportP50Microseconds), number(n.EngineApplyP50Microseconds))
	}
	line("all", r.LagDistribution)
	return b.String()
}

func number(v *int64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// forwarder stands for the proxy in front of the primary: a TCP endpoint whose target can be moved.
type forwarder struct {
	listener net.Listener
	mu       sync.Mutex
	target   string
	open     []net.Conn
}

func newForwarder(t testing.TB, target string) *forwarder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{listener: l, target: target}
	t.Cleanup(func() { _ = l.Close(); f.move("") })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return f
}

func (f *forwarder) serve(client net.Conn) {
	defer client.Close()
	f.mu.Lock()
	target := f.target
	f.open = append(f.open, client)
	f.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
}

// move sends new connections to another server and closes those that are open, as a proxy does with a dead one.
func (f *forwarder) move(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
	for _, c := range f.open {
		_ = c.Close()
	}
	f.open = nil
}

func (f *forwarder) endpoint() wire.Endpoint {
	return wire.Endpoint{Host: "127.0.0.1", Port: f.listener.Addr().(*net.TCPAddr).Port}
}
