package director

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

const token = secrettest.Token

// lab is an experiment of real servers, each with an agent that does what internal/wire promises of one.
type lab struct {
	t      *testing.T
	cfg    wire.DirectorConfig
	places []address
	nodes  []*testNode
	store  *memoryStore
	leases *leaseBook
	engine enginetest.Flavor
}

// newLab starts n servers named node-0 and so on, at once.
func newLab(t *testing.T, n int, opts ...enginetest.Option) *lab {
	t.Helper()
	return newLabOf(t, enginetest.Default, n, opts...)
}

// newLabOf starts n servers of an engine.
func newLabOf(t *testing.T, e enginetest.Flavor, n int, opts ...enginetest.Option) *lab {
	t.Helper()
	e.Need(t)
	l := bareLab(t, e)
	l.nodes = make([]*testNode, n)
	var starting sync.WaitGroup
	for i := range n {
		starting.Go(func() { l.nodes[i] = newTestNode(t, e, fmt.Sprintf("node-%d", i), l.leases, opts...) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, n := range l.nodes {
		l.places = append(l.places, address{Name: n.name, Host: "127.0.0.1", Port: n.mysql.Port, AgentURL: n.url})
		l.cfg.Nodes = append(l.cfg.Nodes, wire.Node{Name: n.name, Host: "127.0.0.1"})
	}
	return l
}

// bareLab has no nodes yet.
func bareLab(t *testing.T, e enginetest.Flavor) *lab {
	book := &leaseBook{until: map[*testNode]time.Time{}, last: map[*testNode]time.Time{}}
	return &lab{t: t, engine: e, store: &memoryStore{}, leases: book, cfg: wire.DirectorConfig{
		Port:     3306,
		Failover: true, ProbeMilliseconds: 100, TimeoutMilliseconds: 600, FailureThreshold: 3,
		LeaseMilliseconds: 2000, CatchUpMilliseconds: 10_000, RejoinMaxMilliseconds: 60_000,
	}}
}

// direct runs a director until stop is called or the test ends.
func (l *lab) direct(s store) (d *Director, stop func()) {
	l.t.Helper()
	c, err := newCluster(l.cfg, l.places, secrets{admin: enginetest.Password, replication: enginetest.Password, token: token}, l.engine.OpenAdmin)
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if crashing, ok := s.(*crashingStore); ok {
		crashing.start(cancel)
	}
	d = newDirector(l.cfg, c, s, func(wire.DirectorState) {})
	var running sync.WaitGroup
	running.Go(func() { c.run(ctx) })
	running.Go(func() {
		if err := d.Run(ctx); err != nil {
			l.t.Errorf("director: %v", err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	l.t.Cleanup(stop)
	return d, stop
}

// await waits until the director's state is as wanted.
func (l *lab) await(d *Director, what string, wanted func(wire.DirectorState) bool) wire.DirectorState {
	l.t.Helper()
	var state wire.DirectorState
	l.eventually(what, func() bool { state = d.State(); return wanted(state) }, func() string { return document(state) })
	return state
}

func (l *lab) eventually(what string, reached func() bool, detail func() string) {
	l.t.Helper()
	deadline := time.Now().Add(5 * time.Minute) // on a busy machine
	for !reached() {
		if time.Now().After(deadline) {
			l.t.Fatalf("never came: %s\n%s", what, detail())
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}

func (l *lab) configured(d *Director) wire.DirectorState {
	l.t.Helper()
	return l.await(d, "every node in its place", func(s wire.DirectorState) bool { return s.Configured })
}

// writeUndirected has a node commit a row while nobody directs, and would renew its lease.
func (l *lab) writeUndirected(n *testNode, row string) {
	l.t.Helper()
	l.leases.give(n, time.Hour)
	var err error
	l.eventually("a row on "+n.name, func() bool {
		n.mysql.Open() // its agent may have closed it before
		_, err = n.db.Exec("INSERT INTO probe_writes VALUES (" + row + ")")
		return err == nil
	}, func() string { return fmt.Sprint(err) })
}

// kill ends a node's server, and its lease.
func (l *lab) kill(n *testNode) {
	n.mysql.Kill()
	l.leases.end(n)
}
