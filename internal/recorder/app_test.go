package recorder

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/httpserver"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// app is the side behind the recorder, an HTTP server that does as the test says.
type app struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newApp(t *testing.T, handle http.HandlerFunc) *app {
	a := &app{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // as an app does; only then it notices that a client leaves
			t.Error(err)
		}
		a.mu.Lock()
		a.seen = append(a.seen, r)
		a.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *app) requests() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

// newForwarder returns a recorder before the app at address, and the path of its ledger.
func newForwarder(t *testing.T, address string, timeout time.Duration) (*forwarder, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	now := steadyClock()
	l, err := ledger.Open(path, now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d := &forwarder{
		app: upstream.New(address), timeout: timeout, now: now, ledger: l, state: newState(path+stateSuffix, now),
		figures: figures.New(stages, now), outage: outage.NewLog(now, nil),
	}
	d.state.started = d.figures.Start
	return d, path
}

// serveForwarder serves the recorder until the test ends, and returns where: host:port.
func serveForwarder(t testing.TB, d *forwarder) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- httpserver.ServeOn(ctx, l, d.serve) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask gives the recorder a request as the HTTP server does.
func ask(d *forwarder, method, target, body string) httpserver.Answer {
	return d.serve(httptest.NewRequest(method, target, nil), []byte(body))
}

// outcomes reads what the ledger's file has of each id at this moment.
func outcomes(t *testing.T, path string) map[uint64]ledger.Outcome {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found := map[uint64]ledger.Outcome{}
	err = ledger.Read(f, func(r ledger.Record) error {
		if o := ledger.Outcome(r.Kind); o >= ledger.Acknowledged && o <= ledger.Indeterminate {
			found[r.ID] = o
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func register(t *testing.T, url string) *http.Response {
	t.Helper()
	r, err := http.Post(url+wire.SocialPathRegister, "application/json", strings.NewReader(`{"first_name":"A"}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	return r
}

// reset closes the connection under a handler so that the client gets a reset, after sending text.
func reset(w http.ResponseWriter, text string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(c, text)
	if text == "" {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	c.Close()
}

func answering(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}
