package family_test

import (
	"strconv"
	"testing"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

func nothingListens(t *testing.T, server *familytest.Server) {
	relay, endpoint := startRelay(t, server)
	_ = relay.listener.Close()
	a := openStore(t, server, endpoint, family.QuestionHostname, nil)
	if r := a.register(500); r.rejected != wire.RejectedNotSent || r.node != "" {
		t.Fatalf("answered %+v", r)
	}
	if _, node, err := a.Profile(t.Context(), 1); err == nil || node != "" {
		t.Fatalf("a read answered from %q, %v", node, err)
	}
	if err := a.Ping(t.Context()); err == nil {
		t.Fatal("an answer without a server")
	}
}

// A failover: the proxy sends new connections to another server. The first write on each connection must name the server
// that took it, and the row must be there.
func nodeFollowsTheConnection(t *testing.T, old, next *familytest.Server) {
	relay, endpoint := startRelay(t, old)
	a := openStore(t, old, endpoint, "SELECT CONCAT('port-', @@port)", nil)
	warm(t, a.WritePool())
	name := func(s *familytest.Server) string { return "port-" + strconv.Itoa(s.Port) }
	if r := a.register(900); r.node != name(old) {
		t.Fatalf("before: %+v", r)
	}
	old.Exec(old.Flavor.CloseSQL)
	next.Open()
	relay.moveTo(next)
	// Each pooled connection still leads to the old server, says so, and is left after one refusal.
	refused := 0
	for id := 901; ; id++ {
		r := a.register(uint64(id))
		if r.err == nil {
			if r.node != name(next) || count(t, next, "write_id = "+strconv.Itoa(id)) != 1 {
				t.Fatalf("the first write after the move answered %+v", r)
			}
			break
		}
		refused++
		if r.rejected != wire.RejectedReadOnly || r.node != name(old) || refused > 4 {
			t.Fatalf("refusal %d: %+v", refused, r)
		}
	}
	if refused == 0 {
		t.Fatal("no pooled connection led to the old server: the test shows nothing")
	}
}

func poolIsExhausted(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, func(c *wire.SocialConfig) {
		c.MaxConnections, c.RequestTimeoutMilliseconds = 1, 300
	})
	conn, err := a.WritePool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if r := a.register(600); r.rejected != wire.RejectedNotSent {
		t.Fatalf("answered %+v", r)
	}
}

func repeatedWriteIDStaysOpen(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, nil)
	if r := a.register(77); r.err != nil {
		t.Fatalf("answered %+v", r)
	}
	if r := a.register(77); r.err == nil || r.rejected != "" || r.node == "" {
		t.Fatalf("answered %+v: a write that is in the table must not be called rejected", r)
	}
	if n := count(t, server, "write_id = 77"); n != 1 {
		t.Fatalf("%d rows", n)
	}
}

func readOnlyServerIsLeft(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, nil)
	warm(t, a.WritePool())
	server.Exec(server.Flavor.CloseSQL)
	defer server.Open()
	open := a.WritePool().Stats().OpenConnections
	if r := a.register(6000); r.rejected != wire.RejectedReadOnly || r.node == "" {
		t.Fatalf("answered %+v", r)
	}
	if now := a.WritePool().Stats().OpenConnections; now != open-1 {
		t.Fatalf("%d connections became %d: the one to the read-only server must go", open, now)
	}
	if n := count(t, server, "write_id = 6000"); n != 0 {
		t.Fatalf("a rejected write has %d rows", n)
	}
}
