package social

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// fakeStore answers every write as its function says; there are no users to read.
type fakeStore struct {
	write func(ctx context.Context) (node string, err error)
}

func (f fakeStore) Register(ctx context.Context, _ engine.NewUser) (uint64, string, error) {
	node, err := f.write(ctx)
	return 7, node, err
}

func (f fakeStore) Update(ctx context.Context, _ uint64, _ string) (string, error) {
	return f.Probe(ctx, 0, nil)
}

func (f fakeStore) Probe(ctx context.Context, _ uint64, _ []byte) (string, error) {
	return f.write(ctx)
}

func (f fakeStore) Ping(ctx context.Context) error {
	_, err := f.write(ctx)
	return err
}

func (fakeStore) Profile(context.Context, uint64) (wire.Profile, string, error) {
	return wire.Profile{}, "", errors.New("connection refused")
}

func (fakeStore) PasswordHash(context.Context, uint64) ([]byte, string, error) {
	return nil, "db-1", engine.ErrNoUser
}

func (fakeStore) Search(context.Context, string, string) ([]wire.Profile, string, error) {
	return []wire.Profile{}, "db-1", nil
}
func (fakeStore) Collectors() []prometheus.Collector { return nil }
func (fakeStore) Close() error                       { return nil }

// What a store says of a write decides what a client is told: only a Rejection is called rejected.
func TestOutcomesOfWrites(t *testing.T) {
	rejected := func(reason string) error {
		return fmt.Errorf("insert the user: %w", &engine.Rejection{Reason: reason, Err: errors.New("no")})
	}
	for name, c := range map[string]struct {
		node     string
		err      error
		status   int
		rejected string
	}{
		"committed":            {"db-0", nil, 200, ""},
		"read-only":            {"db-0", rejected(wire.RejectedReadOnly), 503, wire.RejectedReadOnly},
		"rolled back":          {"db-0", rejected(wire.RejectedDeadlock), 503, wire.RejectedDeadlock},
		"not sent":             {"", rejected(wire.RejectedNotSent), 503, wire.RejectedNotSent},
		"a value too long":     {"db-0", rejected(wire.RejectedValidation), 400, wire.RejectedValidation},
		"no such table":        {"db-0", rejected(wire.RejectedRefused), 500, wire.RejectedRefused},
		"the answer was lost":  {"", errors.New("invalid connection"), 502, ""},
		"a server that hangs":  {"", fmt.Errorf("insert: %w", context.DeadlineExceeded), 504, ""},
		"a repeated write id":  {"db-0", errors.New("duplicate entry"), 502, ""},
		"a killed transaction": {"db-0", errors.New("interrupted"), 502, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := serve(t, appConfig(wire.Endpoint{}), fakeStore{func(context.Context) (string, error) { return c.node, c.err }})
			if r := a.register("1"); r.status != c.status || r.rejected() != c.rejected || r.node() != c.node {
				t.Errorf("answered %+v, want %d %q from %q", r, c.status, c.rejected, c.node)
			}
		})
	}
}

func TestWithoutADatabase(t *testing.T) {
	away := true
	a := serve(t, appConfig(wire.Endpoint{}), fakeStore{func(context.Context) (string, error) {
		if away {
			return "", errors.New("connection refused")
		}
		return "db-0", nil
	}})
	if r := a.ask("GET", wire.SocialPathGet+"1", nil); r.status != http.StatusBadGateway || r.rejected() != "" {
		t.Errorf("a read answered %+v", r)
	}
	if r := a.ask("GET", wire.SocialPathReady, nil); r.status != 503 {
		t.Errorf("an app that never reached its database is ready: %+v", r)
	}
	away = false
	if r := a.ask("GET", wire.SocialPathReady, nil); r.status != 200 {
		t.Errorf("an app that reached its database is not ready: %+v", r)
	}
	away = true
	if r := a.ask("GET", wire.SocialPathReady, nil); r.status != 200 {
		t.Errorf("readiness was taken back: %+v", r)
	}
}

func TestARequestTakesNoLongerThanItsTimeout(t *testing.T) {
	cfg := appConfig(wire.Endpoint{})
	cfg.RequestTimeoutMilliseconds = 50
	a := serve(t, cfg, fakeStore{func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }})
	if r := a.register("1"); r.status != http.StatusGatewayTimeout || r.rejected() != "" || r.node() != "" {
		t.Fatalf("answered %+v", r)
	}
}

// blocking is a store whose writes wait until it is released.
type blocking struct {
	fakeStore
	entered chan struct{}
	release chan struct{}
}

func newBlocking() *blocking {
	b := &blocking{entered: make(chan struct{}, 100), release: make(chan struct{})}
	b.write = func(context.Context) (string, error) {
		b.entered <- struct{}{}
		<-b.release
		return "db-0", nil
	}
	return b
}

func (b *blocking) await(t *testing.T, writes int) {
	t.Helper()
	for range writes {
		select {
		case <-b.entered:
		case <-time.After(time.Minute): // at most
			t.Fatal("no write reached the store within a minute")
		}
	}
}

func TestARequestTooManyIsTurnedAway(t *testing.T) {
	cfg := appConfig(wire.Endpoint{})
	cfg.MaxInFlight = 2
	b := newBlocking()
	a := serve(t, cfg, b)
	var waiting sync.WaitGroup
	for _, id := range []string{"700", "701"} {
		waiting.Go(func() {
			if r := a.register(id); r.status != 200 {
				t.Errorf("a write that was let in answered %+v", r)
			}
		})
	}
	b.await(t, 2)
	if r := a.register("702"); r.status != 503 || r.rejected() != wire.RejectedOverload {
		t.Errorf("a write too many answered %+v", r)
	}
	if r := a.ask("GET", wire.SocialPathGet+"1", nil); r.status != 503 || r.rejected() != "" {
		t.Errorf("a read too many answered %+v", r)
	}
	if r := a.ask("GET", wire.SocialPathHealth, nil); r.status != 200 {
		t.Errorf("health answered %+v", r)
	}
	close(b.release)
	waiting.Wait()
	if more := len(b.entered); more != 0 {
		t.Errorf("%d writes more reached the store", more)
	}
}

func TestRequestsInFlightEndBeforeTheAppDoes(t *testing.T) {
	cfg := appConfig(wire.Endpoint{})
	b := newBlocking()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	httpServer := newServer(cfg, newHandler(cfg, b, newMetrics()))
	stopping := make(chan struct{})
	httpServer.RegisterOnShutdown(func() { close(stopping) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- process.ServeOn(ctx, listener, httpServer) }()

	a := &api{t: t, url: "http://" + listener.Addr().String()}
	answered := make(chan reply, 1)
	go func() { answered <- a.register("800") }()
	b.await(t, 1)
	stop()
	<-stopping
	close(b.release)
	if r := <-answered; r.status != 200 {
		t.Fatalf("the request in flight answered %+v", r)
	}
	if err := <-ended; err != nil {
		t.Fatalf("a graceful stop is no error, got %v", err)
	}
}
