package director

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/mysqltest"
	"replab.dev/internal/process"
	"replab.dev/internal/protocol"
)

const token = "test-token"

// lab is an experiment of real servers, each with an agent that does what internal/protocol promises of one.
type lab struct {
	t      *testing.T
	cfg    protocol.DirectorConfig
	places []address
	nodes  []*testNode
	store  *memoryStore
	leases *leaseBook
}

// newLab starts n servers named node-0 and so on, at once.
func newLab(t *testing.T, n int, opts ...mysqltest.Option) *lab {
	t.Helper()
	l := bareLab(t)
	l.nodes = make([]*testNode, n)
	var starting sync.WaitGroup
	for i := range n {
		starting.Go(func() { l.nodes[i] = newTestNode(t, fmt.Sprintf("node-%d", i), l.leases, opts...) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, n := range l.nodes {
		l.places = append(l.places, address{Name: n.name, Host: "127.0.0.1", Port: n.mysql.Port, AgentURL: n.url})
		l.cfg.Nodes = append(l.cfg.Nodes, protocol.Node{Name: n.name, Host: "127.0.0.1"})
	}
	return l
}

// bareLab has no nodes yet.
func bareLab(t *testing.T) *lab {
	book := &leaseBook{until: map[*testNode]time.Time{}, last: map[*testNode]time.Time{}}
	return &lab{t: t, store: &memoryStore{}, leases: book, cfg: protocol.DirectorConfig{
		Failover: true, ProbeMilliseconds: 100, TimeoutMilliseconds: 600, FailuresToDetect: 3,
		LeaseMilliseconds: 2000, CatchUpMilliseconds: 10_000, RejoinMaxMilliseconds: 60_000,
	}}
}

// direct runs a director until stop is called or the test ends.
func (l *lab) direct(s store) (d *Director, stop func()) {
	l.t.Helper()
	c, err := newCluster(l.cfg, l.places, secrets{admin: mysqltest.Password, replication: mysqltest.Password, token: token})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if crashing, ok := s.(*crashingStore); ok {
		crashing.start(cancel)
	}
	d = newDirector(l.cfg, c, s, func(protocol.DirectorState) {})
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
func (l *lab) await(d *Director, what string, wanted func(protocol.DirectorState) bool) protocol.DirectorState {
	l.t.Helper()
	var state protocol.DirectorState
	l.eventually(what, func() bool { state = d.State(); return wanted(state) }, func() string { return document(state) })
	return state
}

func (l *lab) eventually(what string, reached func() bool, detail func() string) {
	l.t.Helper()
	deadline := time.Now().Add(45 * time.Second)
	for !reached() {
		if time.Now().After(deadline) {
			l.t.Fatalf("never came: %s\n%s", what, detail())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *lab) configured(d *Director) protocol.DirectorState {
	l.t.Helper()
	return l.await(d, "every node in its place", func(s protocol.DirectorState) bool { return s.Configured })
}

// testNode is a real server with its agent.
type testNode struct {
	name  string
	mysql *mysqltest.Server
	db    *sql.DB
	url   string
	t     *testing.T
	book  *leaseBook

	mu      sync.Mutex
	process *os.Process
	leased  int // process that the last lease was given to
}

func newTestNode(t *testing.T, name string, book *leaseBook, opts ...mysqltest.Option) *testNode {
	n := &testNode{name: name, mysql: mysqltest.Start(t, name, opts...), t: t, book: book}
	n.db, n.process = n.mysql.DB(protocol.AccountAdmin, protocol.Database), n.mysql.Process()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+protocol.AgentPathState, n.serveState)
	mux.Handle("POST "+protocol.AgentPathLease, process.RequireToken(token, http.HandlerFunc(n.serveLease)))
	mux.Handle("POST "+protocol.AgentPathFence, process.RequireToken(token, http.HandlerFunc(n.serveFence)))
	s := httptest.NewServer(mux)
	n.url = s.URL
	var keeping sync.WaitGroup
	keeping.Go(n.keep)
	t.Cleanup(func() { s.Close(); keeping.Wait() })
	return n
}

// run starts the server again.
func (n *testNode) run() {
	n.t.Helper()
	n.mysql.Run()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process = n.mysql.Process()
}

func (n *testNode) now() *os.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

func (n *testNode) running() bool { return n.now().Signal(syscall.Signal(0)) == nil }

func (n *testNode) serveState(w http.ResponseWriter, _ *http.Request) {
	state := protocol.NodeState{PodName: n.name, PodUID: "uid", LeaseHeld: n.book.holds(n)}
	if n.running() {
		state.ServerPID = int64(n.now().Pid)
	}
	_ = json.NewEncoder(w).Encode(state)
}

func (n *testNode) serveLease(w http.ResponseWriter, r *http.Request) {
	var lease protocol.Lease
	if err := json.NewDecoder(r.Body).Decode(&lease); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ttl := time.Duration(lease.TTLMilliseconds) * time.Millisecond
	for _, other := range n.book.give(n, ttl) {
		if other.mayBeWritable() {
			n.t.Errorf("%s was given a lease while that of %s stood", n.name, other.name)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leased = n.process.Pid
}

// keep closes the server whenever it is writable without a lease, as soon as it answers; a little before the lease ends,
// so that it is closed when it has.
func (n *testNode) keep() {
	for n.t.Context().Err() == nil {
		time.Sleep(30 * time.Millisecond)
		n.mu.Lock()
		leased := n.leased
		n.mu.Unlock()
		if leased != 0 && n.running() && n.book.left(n) < 300*time.Millisecond && n.readOnlyNow() == "0" {
			_ = n.readOnly(500 * time.Millisecond)
		}
	}
}

// mayBeWritable is true as well for a server that does not answer, such as a paused one, unless it is another process
// than the one that had the lease: servers boot read-only.
func (n *testNode) mayBeWritable() bool {
	n.mu.Lock()
	same := n.process.Pid == n.leased
	n.mu.Unlock()
	return same && n.readOnlyNow() != "1" && n.running()
}

// readOnlyNow is empty when the server does not answer.
func (n *testNode) readOnlyNow() (value string) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_ = n.db.QueryRowContext(ctx, "SELECT @@GLOBAL.read_only").Scan(&value) // the value tells
	return value
}

func (n *testNode) serveFence(w http.ResponseWriter, _ *http.Request) {
	n.book.end(n)
	if err := n.readOnly(300 * time.Millisecond); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (n *testNode) readOnly(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := n.db.ExecContext(ctx, "SET GLOBAL super_read_only = ON")
	return err
}

func (n *testNode) signal(s os.Signal) {
	n.t.Helper()
	if err := n.now().Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

func (n *testNode) one(query string, args ...any) string {
	n.t.Helper()
	var value string
	if err := n.db.QueryRow(query, args...).Scan(&value); err != nil {
		n.t.Fatalf("%s: %s: %v", n.name, query, err)
	}
	return value
}

func (n *testNode) rows() string {
	n.t.Helper()
	return n.one("SELECT CONCAT(COUNT(*), ' rows ', COALESCE(MAX(id), 0), ' ', BIT_XOR(CRC32(CONCAT(id, payload)))) FROM probe_writes")
}

// leaseBook knows all leases, so that two that stand at once are noticed.
type leaseBook struct {
	mu    sync.Mutex
	until map[*testNode]time.Time
	last  map[*testNode]time.Time // when the last lease of each runs or ran out
}

// give notes a lease and returns the other nodes whose leases stand.
func (b *leaseBook) give(n *testNode, ttl time.Duration) (others []*testNode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other, until := range b.until {
		if other != n && time.Now().Before(until) {
			others = append(others, other)
		}
	}
	b.until[n] = time.Now().Add(ttl)
	b.last[n] = b.until[n]
	return others
}

func (b *leaseBook) end(n *testNode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.until, n)
}

func (b *leaseBook) holds(n *testNode) bool { return b.left(n) > 0 }

func (b *leaseBook) left(n *testNode) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.until[n])
}

// memoryStore keeps the state as the ConfigMap would.
type memoryStore struct {
	mu   sync.Mutex
	text string
	log  []protocol.DirectorState
}

func (m *memoryStore) Load(context.Context) (state protocol.DirectorState, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text != "" {
		err = json.Unmarshal([]byte(m.text), &state)
	}
	return state, err
}

func (m *memoryStore) Save(_ context.Context, document string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var state protocol.DirectorState
	if err := json.Unmarshal([]byte(document), &state); err != nil {
		return err
	}
	m.text, m.log = document, append(m.log, state)
	return nil
}

// crashingStore kills its director at every state that is new to it: at the first try before the state is stored, at
// the second right after.
type crashingStore struct {
	*memoryStore
	tries   map[string]int
	crashes int

	mu   sync.Mutex
	kill context.CancelFunc
}

var errCrash = errors.New("the director was killed")

func (c *crashingStore) start(kill context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill = kill
}

func (c *crashingStore) died() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kill == nil
}

func (c *crashingStore) Save(ctx context.Context, document string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tries == nil {
		c.tries = map[string]int{}
	}
	key := crashKey(document)
	c.tries[key]++
	if c.tries[key] > 1 {
		if err := c.memoryStore.Save(ctx, document); err != nil {
			return err
		}
	}
	if c.tries[key] > 2 {
		return nil
	}
	c.crashes++
	c.kill()
	c.kill = nil
	return errCrash
}

// crashKey is what makes a state another one: not its moments, nor how far the replicas are.
func crashKey(document string) string {
	var s protocol.DirectorState
	if err := json.Unmarshal([]byte(document), &s); err != nil {
		panic(err)
	}
	key := fmt.Sprint(s.Epoch, s.Primary, s.Opened, s.Configured)
	for _, n := range s.Nodes {
		key += fmt.Sprint(" ", n.Role, n.Rejoin, n.GhostTransactions != nil)
	}
	for _, f := range s.Failovers {
		key += fmt.Sprint(" ", f.NewPrimary, f.FencedAt != nil, f.AppliedAt != nil, f.PromotedAt != nil, f.RepointedAt != nil)
	}
	return key
}

// writer inserts rows through whichever node is writable, one at a time, and keeps which were acknowledged.
type writer struct {
	lab   *lab
	mu    sync.Mutex
	acked []int
	next  int
	stop  func()
}

func (l *lab) write() *writer {
	w := &writer{lab: l}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				w.insert()
			}
		}
	})
	w.stop = sync.OnceFunc(func() { close(done); running.Wait() })
	l.t.Cleanup(w.stop)
	return w
}

// insert tries the nodes in turn: all but a primary refuse.
func (w *writer) insert() {
	w.next++
	for _, n := range w.lab.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, err := n.db.ExecContext(ctx, "INSERT INTO probe_writes VALUES (?, REPEAT('x', 200))", w.next)
		cancel()
		if err == nil {
			w.mu.Lock()
			w.acked = append(w.acked, w.next)
			w.mu.Unlock()
			return
		}
		var refused *driver.MySQLError
		if !errors.As(err, &refused) && !errors.Is(err, syscall.ECONNREFUSED) {
			return // it may have been done
		}
	}
	time.Sleep(5 * time.Millisecond)
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

// lost returns the acknowledged rows that a node has not.
func (w *writer) lost(n *testNode) []int {
	n.t.Helper()
	result, err := n.db.Query("SELECT id FROM probe_writes")
	if err != nil {
		n.t.Fatal(err)
	}
	defer result.Close()
	present := map[int]bool{}
	for result.Next() {
		var id int
		if err := result.Scan(&id); err != nil {
			n.t.Fatal(err)
		}
		present[id] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.acked), func(id int) bool { return present[id] })
}
