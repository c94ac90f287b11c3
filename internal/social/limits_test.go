package social

import (
	"context"
	"net"
	"sync"
	"testing"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

func poolIsExhausted(t *testing.T, server *mysqltest.Server) {
	a := startApp(t, server.Endpoint(), questionHostname, func(c *wire.SocialConfig) {
		c.MaxConnections, c.RequestTimeoutMilliseconds = 1, 300
	})
	conn, err := a.store.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if r := a.register("600"); r.status != 503 || r.rejected() != wire.RejectedNotSent {
		t.Fatalf("answered %+v", r)
	}
}

func overloadIsRejected(t *testing.T, server *mysqltest.Server) {
	a := startApp(t, server.Endpoint(), questionHostname, func(c *wire.SocialConfig) { c.MaxConnections, c.MaxInFlight = 1, 2 })
	conn, err := a.store.writes.Conn(t.Context()) // what is let in waits for it
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for _, id := range []string{"700", "701"} {
		waiting.Go(func() {
			if r := a.register(id); r.status != 200 {
				t.Errorf("a write that was let in answered %+v", r)
			}
		})
	}
	await(t, "two requests wait for the connection", func() bool { return a.store.writes.Stats().WaitCount == 2 })
	if r := a.register("702"); r.status != 503 || r.rejected() != wire.RejectedOverload {
		t.Errorf("a write too many answered %+v", r)
	}
	if r := a.ask("GET", wire.SocialPathGet+"1", nil); r.status != 503 || r.rejected() != "" {
		t.Errorf("a read too many answered %+v", r)
	}
	if r := a.ask("GET", wire.SocialPathHealth, nil); r.status != 200 {
		t.Errorf("health answered %+v", r)
	}
	_ = conn.Close()
	waiting.Wait()
	if n := count(t, server, "write_id IN (700, 701, 702)"); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func gracefulStop(t *testing.T, server *mysqltest.Server) {
	cfg := wire.SocialConfig{
		Engine: "MySQL", Writes: server.Endpoint(), Reads: server.Endpoint(), PasswordHashCost: 4, MaxConnections: 1, MaxInFlight: 8,
		RequestTimeoutMilliseconds: 20_000,
	}
	store, err := NewMySQLStore(cfg, mysqltest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := store.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	httpServer := newServer(cfg, newHandler(cfg, store, newMetrics()))
	stopping := make(chan struct{})
	httpServer.RegisterOnShutdown(func() { close(stopping) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- process.ServeOn(ctx, listener, httpServer) }()

	a := &api{t: t, url: "http://" + listener.Addr().String(), store: store}
	answered := make(chan reply, 1)
	go func() { answered <- a.register("800") }()
	await(t, "the request waits for the connection", func() bool { return store.writes.Stats().WaitCount == 1 })
	stop()
	<-stopping
	_ = conn.Close()
	if r := <-answered; r.status != 200 {
		t.Fatalf("the request in flight answered %+v", r)
	}
	if err := <-ended; err != nil {
		t.Fatalf("a graceful stop is no error, got %v", err)
	}
}
