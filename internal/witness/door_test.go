package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/protocol"
	"replab.dev/internal/witness/figures"
	"replab.dev/internal/witness/outage"
	"replab.dev/internal/witness/upstream"
)

// app is the side behind the door, an HTTP server that does as the test says.
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

// newDoor returns a door before the app at address, and the path of its ledger.
func newDoor(t *testing.T, address string, timeout time.Duration) (*door, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	now := steadyClock()
	l, err := ledger.Open(path, now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d := &door{
		app: upstream.New(address), timeout: timeout, now: now, ledger: l, state: newState(path+stateSuffix, now),
		figures: figures.New([]protocol.Stage{{Name: "warmup", Discard: true}, {Name: "steady"}}, "steady", now), outage: outage.NewLog(now),
	}
	d.state.started = d.figures.Start
	return d, path
}

func serveDoor(t *testing.T, d *door) *httptest.Server {
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return s
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
	r, err := http.Post(url+protocol.SocialPathRegister, "application/json", strings.NewReader(`{"first_name":"A"}`))
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

func TestTheOutcomeOfAWrite(t *testing.T) {
	for name, c := range map[string]struct {
		app    http.HandlerFunc
		want   ledger.Outcome
		status int
	}{
		"200 is acknowledged":                   {answering(200), ledger.Acknowledged, 200},
		"201 is acknowledged":                   {answering(201), ledger.Acknowledged, 201},
		"503 with a reason is rejected":         {answering(503, protocol.HeaderRejected, "read-only"), ledger.Rejected, 503},
		"400 with a reason is rejected":         {answering(400, protocol.HeaderRejected, "validation"), ledger.Rejected, 400},
		"503 without a reason is indeterminate": {answering(503), ledger.Indeterminate, 503},
		"404 without a reason is indeterminate": {answering(404), ledger.Indeterminate, 404},
		"a redirection is indeterminate":        {answering(307, "Location", "/elsewhere"), ledger.Indeterminate, 307},
		"a reset before the answer":             {func(w http.ResponseWriter, _ *http.Request) { reset(w, "") }, ledger.Indeterminate, 502},
		"an end before the answer":              {func(w http.ResponseWriter, _ *http.Request) { reset(w, "HTTP/1.1 ") }, ledger.Indeterminate, 502},
		"an end in the middle of the body of a 201": {func(w http.ResponseWriter, _ *http.Request) {
			reset(w, "HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{")
		}, ledger.Indeterminate, 502},
		"no answer in time":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ledger.Indeterminate, 504},
		"an app that panics": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ledger.Indeterminate, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, c.app)
			timeout := time.Minute
			if c.status == http.StatusGatewayTimeout {
				timeout = 100 * time.Millisecond
			}
			d, path := newDoor(t, a.Listener.Addr().String(), timeout)
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			r, err := client.Post(serveDoor(t, d).URL+protocol.SocialPathRegister, "", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d", r.StatusCode, c.status)
			}
			if got := outcomes(t, path); len(got) != 1 || got[1] != c.want {
				t.Errorf("ledger %v, want write 1 as %s", got, outcomeName(c.want))
			}
			if n := len(a.requests()); n != 1 {
				t.Errorf("the app got the write %d times", n)
			}
			if got := d.figures.Total(); got.Requests != 1 || (got.Failures == 0) != (c.want == ledger.Acknowledged) {
				t.Errorf("figures: %d requests, %d failures", got.Requests, got.Failures)
			}
		})
	}
}

func TestAWriteThatCannotReachTheAppIsRejected(t *testing.T) {
	a := newApp(t, answering(200))
	a.Close()
	d, path := newDoor(t, a.Listener.Addr().String(), time.Second)
	r := register(t, serveDoor(t, d).URL)
	if r.StatusCode != http.StatusBadGateway || r.Header.Get(protocol.HeaderRejected) != protocol.RejectedNotSent {
		t.Errorf("status %d, rejected %q", r.StatusCode, r.Header.Get(protocol.HeaderRejected))
	}
	if got := outcomes(t, path); got[1] != ledger.Rejected {
		t.Errorf("ledger %v, want write 1 rejected", got)
	}
}

// TestTheOutcomeIsInTheLedgerBeforeTheClientHasItsAnswer reads the file the moment the first byte of the answer comes.
func TestTheOutcomeIsInTheLedgerBeforeTheClientHasItsAnswer(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	c, err := net.Dial("tcp", serveDoor(t, d).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for id := range uint64(200) {
		if _, err := io.WriteString(c, "POST /user/register HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if got := outcomes(t, path); got[id+1] != ledger.Acknowledged {
			t.Fatalf("the answer to write %d has come, the ledger has %v", id+1, got[id+1])
		}
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAClientThatGoesAwayDoesNotEndItsWrite(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == protocol.SocialPathRegister {
			close(arrived)
			select {
			case <-goOn:
			case <-r.Context().Done():
				t.Error("the write was given up with its client")
			}
		}
		w.WriteHeader(201)
	})
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, serveDoor(t, d).URL+protocol.SocialPathRegister, strings.NewReader("{}"))
		if err == nil {
			_, err = http.DefaultClient.Do(r) //nolint:bodyclose // it fails
		}
		gone <- err
	}()
	<-arrived
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the client left with %v", err)
	}
	if got := outcomes(t, path); len(got) != 0 {
		t.Errorf("ledger %v while the write is under way", got)
	}
	close(goOn)
	if err := d.gate.shut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(t, path); got[1] != ledger.Acknowledged {
		t.Errorf("ledger %v, want write 1 acknowledged", got)
	}
}

func TestAClientThatGoesAwayWhileItSendsLeavesNoWrite(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	c, err := net.Dial("tcp", serveDoor(t, d).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST /user/register HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("answer %q, %v", answer, err)
	}
	if len(a.requests()) != 0 || len(outcomes(t, path)) != 0 {
		t.Errorf("the app has %d requests, the ledger %v", len(a.requests()), outcomes(t, path))
	}
}

func TestAPanicLeavesNoIDWithoutAnOutcome(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	d.outage = nil // what comes after the app's answer panics
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic: the test tests nothing")
			}
		}()
		d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, protocol.SocialPathRegister, strings.NewReader("{}")))
	}()
	if got := outcomes(t, path); len(got) != 1 {
		t.Errorf("ledger %v, want an outcome of write 1", got)
	}
	if got := d.figures.Total(); got.Requests != 1 || got.Failures != 1 {
		t.Errorf("figures: %d requests, %d failures, want one failed", got.Requests, got.Failures)
	}
	if err := d.gate.shut(t.Context()); err != nil {
		t.Errorf("the request still counts as in flight: %v", err)
	}
}

func TestWhatTheAppGets(t *testing.T) {
	a := newApp(t, answering(200))
	d, _ := newDoor(t, a.Listener.Addr().String(), time.Minute)
	r, err := http.NewRequest(http.MethodPost, serveDoor(t, d).URL+protocol.SocialPathRegister+"?x=1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		protocol.HeaderWriteID: "99", "Idempotency-Key": "k", "X-Idempotency-Key": "k",
		protocol.HeaderStage: "warmup", protocol.HeaderLate: "5", "X-Mine": "stays",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	got := a.requests()[0]
	if got.RequestURI != protocol.SocialPathRegister+"?x=1" || got.Header.Get(protocol.HeaderWriteID) != "1" || got.Header.Get("X-Mine") != "stays" {
		t.Errorf("the app got %s with %v", got.RequestURI, got.Header)
	}
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", protocol.HeaderStage, protocol.HeaderLate} {
		if got.Header.Get(name) != "" {
			t.Errorf("the app got header %s", name)
		}
	}
	if stages := d.figures.Stages(); stages[0].Requests != 1 {
		t.Errorf("stages %+v, want the request in warmup", stages)
	}
}

func TestAnAnswerIsRelayedAsItIs(t *testing.T) {
	body := strings.Repeat(`{"id":"1"}`, 10_000)
	a := newApp(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(protocol.HeaderNode, "node-0")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, body) // chunked, since it is long
	})
	d, _ := newDoor(t, a.Listener.Addr().String(), time.Minute)
	r, err := http.Get(serveDoor(t, d).URL + protocol.SocialPathSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil || string(got) != body || r.StatusCode != http.StatusTeapot || r.ContentLength != int64(len(body)) ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get(protocol.HeaderNode) != "node-0" {
		t.Errorf("status %d, headers %v, %d bytes, %v", r.StatusCode, r.Header, len(got), err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, late, body string
		status                   int
	}{
		"a lateness that is no number":    {http.MethodGet, "/user/get/1", "1.5", "", 400},
		"a negative lateness":             {http.MethodGet, "/user/get/1", "-1", "", 400},
		"a row among the probe's own":     {http.MethodPut, protocol.SocialPathProbe + "1", "", "", 403},
		"a body beyond what anybody uses": {http.MethodPost, protocol.SocialPathRegister, "", strings.Repeat("x", maxBodyBytes+1), 400},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, answering(200))
			d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			r.Header.Set(protocol.HeaderLate, c.late)
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			if w.Code != c.status || len(a.requests()) != 0 || len(outcomes(t, path)) != 0 || d.state.get().LoadStartedAt != nil {
				t.Errorf("status %d, the app has %d requests, the ledger %v", w.Code, len(a.requests()), outcomes(t, path))
			}
		})
	}
}

func TestTheLoadStartsWithItsFirstRequestAndQuestionsAfterHealthAreNone(t *testing.T) {
	a := newApp(t, answering(200))
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	ask := func(target string) {
		d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, nil))
	}
	ask(protocol.SocialPathReady)
	ask(protocol.SocialPathMetrics)
	if at := d.state.get().LoadStartedAt; at != nil || d.figures.Total().Requests != 0 {
		t.Fatalf("the load started at %v, without a request", at)
	}
	ask("/user/get/1")
	first := d.state.get().LoadStartedAt
	ask("/user/get/2")
	if second := d.state.get().LoadStartedAt; first == nil || second != first {
		t.Errorf("the load started at %v, then at %v", first, second)
	}
	again := newState(path+stateSuffix, d.now)
	if err := again.load(); err != nil || again.get().LoadStartedAt.UnixMicro() != first.UnixMicro() {
		t.Errorf("a restarted witness knows of a start at %v, %v; want %v", again.get().LoadStartedAt, err, first)
	}
}

func TestStaleReads(t *testing.T) {
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set(protocol.HeaderUserID, "10001")
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	d, _ := newDoor(t, a.Listener.Addr().String(), time.Minute)
	get := func(target string) {
		d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, nil))
	}
	get("/user/get/10001") // nobody was told of it yet
	d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, protocol.SocialPathRegister, strings.NewReader("{}")))
	get("/user/get/10001")
	get("/user/get/10001?x")
	get("/user/get/10002")
	get("/user/get/abc")
	if got := d.users.stale.Load(); got != 2 {
		t.Errorf("%d stale reads, want 2", got)
	}
}

// TestALedgerThatCannotBeWritten limits the size of files as a full disk would.
func TestALedgerThatCannotBeWritten(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	url := serveDoor(t, d).URL
	if r := register(t, url); r.StatusCode != 201 {
		t.Fatalf("status %d", r.StatusCode)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	restore := limitFileSize(t, uint64(info.Size())+ledger.RecordBytes/2)
	r := register(t, url)
	body, err := io.ReadAll(r.Body)
	restore()
	if err != nil || r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "record that write 2 was acknowledged") {
		t.Errorf("status %d, %s", r.StatusCode, body)
	}
	if got := d.state.get().Failed; !strings.Contains(got, "ledger") {
		t.Errorf("failed: %q", got)
	}
	select {
	case <-d.state.changed:
	default:
		t.Error("the failure does not wait to be published")
	}
	if r := register(t, url); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the next write has status %d", r.StatusCode)
	}
	if n := len(a.requests()); n != 2 {
		t.Errorf("the app got %d writes, want 2: none after the failure", n)
	}
	if got := outcomes(t, path); len(got) != 1 || got[1] != ledger.Acknowledged {
		t.Errorf("ledger %v, want write 1 alone", got)
	}
}

func limitFileSize(t *testing.T, bytes uint64) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWritesOfManyClientsAtOnceAreEachInTheLedgerOnce(t *testing.T) {
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Got", r.Header.Get(protocol.HeaderWriteID))
		w.WriteHeader(201)
	})
	d, path := newDoor(t, a.Listener.Addr().String(), time.Minute)
	url := serveDoor(t, d).URL
	var mu sync.Mutex
	ids := map[string]int{}
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 100 {
				r, err := http.Post(url+protocol.SocialPathRegister, "", strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				r.Body.Close()
				mu.Lock()
				ids[r.Header.Get("Got")]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	got := outcomes(t, path)
	if len(ids) != 2000 || len(got) != 2000 || len(a.requests()) != 2000 {
		t.Fatalf("%d ids at the app, %d in the ledger, %d requests, want 2000 each", len(ids), len(got), len(a.requests()))
	}
	for id := range got {
		if ids[fmt.Sprint(id)] != 1 {
			t.Errorf("write %d reached the app %d times", id, ids[fmt.Sprint(id)])
		}
	}
}
