package recorder

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

func TestTheOutcomeOfAWrite(t *testing.T) {
	for name, c := range map[string]struct {
		app    http.HandlerFunc
		want   ledger.Outcome
		status int
	}{
		"200 is acknowledged":                   {answering(200), ledger.Acknowledged, 200},
		"201 is acknowledged":                   {answering(201), ledger.Acknowledged, 201},
		"503 with a reason is rejected":         {answering(503, wire.HeaderRejected, "read-only"), ledger.Rejected, 503},
		"400 with a reason is rejected":         {answering(400, wire.HeaderRejected, "validation"), ledger.Rejected, 400},
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
				timeout = time.Second // by which the app has the request, also on a busy machine
			}
			d, path := newForwarder(t, a.Listener.Addr().String(), timeout)
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			r, err := client.Post("http://"+serveForwarder(t, d)+wire.SocialPathRegister, "", strings.NewReader("{}"))
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
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Second)
	r := register(t, "http://"+serveForwarder(t, d))
	if r.StatusCode != http.StatusBadGateway || r.Header.Get(wire.HeaderRejected) != wire.RejectedNotSent {
		t.Errorf("status %d, rejected %q", r.StatusCode, r.Header.Get(wire.HeaderRejected))
	}
	if got := outcomes(t, path); got[1] != ledger.Rejected {
		t.Errorf("ledger %v, want write 1 rejected", got)
	}
}

func TestWhatTheAppGets(t *testing.T) {
	a := newApp(t, answering(200))
	d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	r, err := http.NewRequest(http.MethodPost, "http://"+serveForwarder(t, d)+wire.SocialPathRegister+"?x=1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		wire.HeaderWriteID: "99", "Idempotency-Key": "k", "X-Idempotency-Key": "k",
		wire.HeaderStage: "cooldown", wire.HeaderLate: "5", "X-Mine": "stays",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	got := a.requests()[0]
	if got.RequestURI != wire.SocialPathRegister+"?x=1" || got.Header.Get(wire.HeaderWriteID) != "1" || got.Header.Get("X-Mine") != "stays" {
		t.Errorf("the app got %s with %v", got.RequestURI, got.Header)
	}
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", wire.HeaderStage, wire.HeaderLate} {
		if got.Header.Get(name) != "" {
			t.Errorf("the app got header %s", name)
		}
	}
	if stages := d.figures.Stages(); stages[1].Requests != 1 {
		t.Errorf("stages %+v, want the request in cooldown", stages)
	}
}

func TestAnAnswerIsRelayedAsItIs(t *testing.T) {
	body := strings.Repeat(`{"id":"1"}`, 10_000)
	a := newApp(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(wire.HeaderNode, "node-0")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, body) // chunked, since it is long
	})
	d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	r, err := http.Get("http://" + serveForwarder(t, d) + wire.SocialPathSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil || string(got) != body || r.StatusCode != http.StatusTeapot || r.ContentLength != int64(len(body)) ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get(wire.HeaderNode) != "node-0" {
		t.Errorf("status %d, headers %v, %d bytes, %v", r.StatusCode, r.Header, len(got), err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, late string
		status             int
	}{
		"a lateness that is no number": {http.MethodGet, "/user/get/1", "1.5", 400},
		"a negative lateness":          {http.MethodGet, "/user/get/1", "-1", 400},
		"a row among the probe's own":  {http.MethodPut, wire.SocialPathProbe + "1", "", 403},
		"the same in disguise":         {http.MethodPut, strings.Replace(wire.SocialPathProbe, "p", "%70", 1) + "1", "", 403},
		"a tunnel":                     {http.MethodConnect, "app:80", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, answering(200))
			d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Header.Set(wire.HeaderLate, c.late)
			if got := d.serve(r, nil).Status; got != c.status || len(a.requests()) != 0 || len(outcomes(t, path)) != 0 || d.state.get().LoadStartedAt != nil {
				t.Errorf("status %d, the app has %d requests, the ledger %v", got, len(a.requests()), outcomes(t, path))
			}
		})
	}
}

func TestTheLoadStartsWithItsFirstRequestAndQuestionsAfterHealthAreNone(t *testing.T) {
	a := newApp(t, answering(200))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	get := func(target string) { ask(d, http.MethodGet, target, "") }
	get(wire.SocialPathReady)
	get(wire.SocialPathMetrics)
	if at := d.state.get().LoadStartedAt; at != nil || d.figures.Total().Requests != 0 {
		t.Fatalf("the load started at %v, without a request", at)
	}
	get("/user/get/1")
	first := d.state.get().LoadStartedAt
	get("/user/get/2")
	if second := d.state.get().LoadStartedAt; first == nil || second != first {
		t.Errorf("the load started at %v, then at %v", first, second)
	}
	again := newState(path+stateSuffix, d.now)
	if err := again.load(); err != nil || again.get().LoadStartedAt.UnixMicro() != first.UnixMicro() {
		t.Errorf("a restarted recorder knows of a start at %v, %v; want %v", again.get().LoadStartedAt, err, first)
	}
}

func TestStaleReads(t *testing.T) {
	status := http.StatusNotFound
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set(wire.HeaderUserID, "10001")
			return
		}
		w.WriteHeader(status)
	})
	d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	get := func(target string) { ask(d, http.MethodGet, target, "") }
	get("/user/get/10001") // nobody was told of it yet
	ask(d, http.MethodPost, wire.SocialPathRegister, "{}")
	get("/user/get/10001")
	get("/user/get/10001?x")
	get("/user/get/10002")
	discarded := func() {
		r := httptest.NewRequest(http.MethodGet, "/user/get/10001", nil)
		r.Header.Set(wire.HeaderStage, "cooldown")
		d.serve(r, nil)
	}
	discarded()
	get("/user/get/abc")
	if got := d.users.staleReads(); got != 2 {
		t.Errorf("%d stale reads, want 2", got)
	}
	// The database lost the user, and gives its id to the next one.
	ask(d, http.MethodPost, wire.SocialPathRegister, "{}")
	get("/user/get/10001")
	want := []wire.StaleUser{{WriteID: 1, Reads: 2}, {WriteID: 2, Reads: 1}}
	if got := d.users.staleUsers(); !slices.Equal(got, want) || d.users.staleReads() != 3 {
		t.Errorf("%d stale reads, of %v; want 3, of %v", d.users.staleReads(), got, want)
	}
	status = http.StatusOK
	get("/user/get/10001")
	get("/user/get/10002") // nobody was told of it
	discarded()
	status = http.StatusServiceUnavailable
	get("/user/get/10001")
	if got := d.users.checkedReads(); got != 4 {
		t.Errorf("%d reads were answered of users that clients were told of, want 3 that did not find theirs and one that did", got)
	}
}

func TestWhatTheWritesOfTheLoadSayOfAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		rejected string
		gaps     int
	}{
		"a write that the app found invalid is no sign of an outage": {wire.RejectedValidation, 0},
		"a write that a read-only server refused is one":             {wire.RejectedReadOnly, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			a := newApp(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(wire.HeaderNode, "node-0")
				if n.Add(1) == 2 {
					w.Header().Set(wire.HeaderRejected, c.rejected)
					w.WriteHeader(http.StatusBadRequest)
				}
			})
			d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
			url := "http://" + serveForwarder(t, d)
			for range 3 {
				register(t, url)
			}
			if got := d.outage.Gaps(); len(got) != c.gaps {
				t.Errorf("gaps %+v, want %d", got, c.gaps)
			}
		})
	}
}
