package family_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

// store is a store on a real server and what a test asks it.
type store struct {
	*family.Store
	t       *testing.T
	timeout time.Duration
}

// openStore opens a store on endpoint; change may alter its configuration.
func openStore(t *testing.T, server *familytest.Server, endpoint wire.Endpoint, question string, change func(*wire.SocialConfig)) store {
	t.Helper()
	cfg := wire.SocialConfig{Writes: endpoint, Reads: endpoint, MaxConnections: 4, RequestTimeoutMilliseconds: 20_000}
	if change != nil {
		change(&cfg)
	}
	known, err := server.Flavor.NewStore(cfg, familytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = known.Close() })
	s, err := family.NewStoreAsking(cfg, familytest.Password, question, family.RefusalsOf(known))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return store{s, t, time.Duration(cfg.RequestTimeoutMilliseconds) * time.Millisecond}
}

// outcome is what a store says of a write.
type outcome struct {
	node     string
	rejected string // the reason, "" for an open end, and for none
	err      error
}

// register writes a user, with a write id unless it is 0.
func (s store) register(writeID uint64) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), s.timeout)
	defer cancel()
	user := engine.NewUser{FirstName: "Ada", LastName: "Stone", PasswordHash: []byte("hash")}
	if writeID != 0 {
		user.WriteID = &writeID
	}
	_, node, err := s.Register(ctx, user)
	o := outcome{node: node, err: err}
	var r *engine.Rejection
	if errors.As(err, &r) {
		o.rejected = r.Reason
	}
	return o
}

// count returns the number of rows of users that a condition selects.
func count(t *testing.T, server *familytest.Server, where string) (n int) {
	t.Helper()
	db := server.DB(wire.AccountProbe, wire.Database)
	if err := db.QueryRow("SELECT COUNT(*) FROM users WHERE " + where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// warm opens every connection that the pool may have.
func warm(t *testing.T, pool *sql.DB) {
	t.Helper()
	for range pool.Stats().MaxOpenConnections {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
}

// relay stands between app and server, as a proxy does.
type relay struct {
	listener net.Listener
	target   atomic.Pointer[string]
	swallow  atomic.Bool // the next answers are lost, and their connections with them

	mu    sync.Mutex
	conns []net.Conn
}

func startRelay(t *testing.T, target *familytest.Server) (*relay, wire.Endpoint) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l}
	r.moveTo(target)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(client)
		}
	}()
	return r, wire.Endpoint{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}
}

// moveTo sends new connections to another server.
func (r *relay) moveTo(s *familytest.Server) {
	address := net.JoinHostPort(s.Endpoint().Host, strconv.Itoa(s.Port))
	r.target.Store(&address)
}

// cut closes all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

func (r *relay) serve(client net.Conn) {
	server, err := net.Dial("tcp", *r.target.Load())
	if err != nil {
		_ = client.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, client, server)
	r.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil || r.swallow.Load() {
			break
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			break
		}
	}
	_, _ = client.Close(), server.Close()
}
