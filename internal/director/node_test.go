package director

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// testNode is a real server with its agent.
type testNode struct {
	name  string
	mysql *enginetest.Server
	db    *sql.DB // as the administrator, whom a read-only server of some engines does not refuse
	app   *sql.DB
	url   string
	t     *testing.T
	book  *leaseBook

	mu      sync.Mutex
	process *os.Process
	leased  int // process that the last lease was given to
}

func newTestNode(t *testing.T, e enginetest.Flavor, name string, book *leaseBook, opts ...enginetest.Option) *testNode {
	n := &testNode{name: name, mysql: e.Start(t, name, opts...), t: t, book: book}
	n.db, n.process = n.mysql.DB(wire.AccountAdmin, wire.Database), n.mysql.Process()
	n.app = n.mysql.DB(wire.AccountApp, wire.Database)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.AgentPathState, n.serveState)
	mux.Handle("POST "+wire.AgentPathLease, process.RequireToken(token, http.HandlerFunc(n.serveLease)))
	mux.Handle("POST "+wire.AgentPathFence, process.RequireToken(token, http.HandlerFunc(n.serveFence)))
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
	state := wire.NodeState{PodUID: "uid"}
	if n.running() {
		state.ServerPID = int64(n.now().Pid)
	}
	_ = json.NewEncoder(w).Encode(state)
}

func (n *testNode) serveLease(w http.ResponseWriter, r *http.Request) {
	var lease wire.Lease
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
		time.Sleep(30 * time.Millisecond) // between two looks
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
	_, err := n.db.ExecContext(ctx, n.mysql.Flavor.CloseSQL)
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

func (b *leaseBook) left(n *testNode) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.until[n])
}
