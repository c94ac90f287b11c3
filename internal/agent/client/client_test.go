package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/wire"
)

// TestAgent has an agent answer, and then answer nonsense.
func TestAgent(t *testing.T) {
	var asked, answer string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = strings.TrimSpace(r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body))
		_, _ = io.WriteString(w, answer)
	}))
	defer s.Close()
	a := Agent{HTTP: httpclient.Client(http.DefaultTransport), URL: s.URL, Token: "t"}
	ctx := t.Context()
	for want, c := range map[string]struct {
		answer string
		ask    func() (bool, error) // whether what it answered has come
	}{
		"GET /state Bearer t": {`{"serverPID":7}`, func() (bool, error) {
			s, err := a.State(ctx)
			return s.ServerPID == 7, err
		}},
		"GET /resources Bearer t": {`{"readBytes":7}`, func() (bool, error) {
			r, err := a.Resources(ctx)
			return r.ReadBytes == 7, err
		}},
		`PUT /faults/f Bearer t {"name":"f","podUID":"u","action":"Kill","holdMilliseconds":1}`: {`{"concluded":true}`, func() (bool, error) {
			r, err := a.Inject(ctx, wire.FaultRequest{Name: "f", PodUID: "u", Action: wire.FaultKill, HoldMilliseconds: 1})
			return r.Concluded, err
		}},
		"GET /faults/f Bearer t": {`{"concluded":true}`, func() (bool, error) {
			r, err := a.Fault(ctx, "f")
			return r.Concluded, err
		}},
		`PUT /links Bearer t {"podUID":"u","peers":[{"address":"10.0.0.1","delayMicroseconds":500}]}`: {`{"session":"s"}`, func() (bool, error) {
			s, err := a.SetLinks(ctx, wire.Links{PodUID: "u", Peers: []wire.Peer{{Address: "10.0.0.1", DelayMicroseconds: 500}}})
			return s.Session == "s", err
		}},
		"GET /links Bearer t": {`{"session":"s"}`, func() (bool, error) {
			s, err := a.Links(ctx)
			return s.Session == "s", err
		}},
		`POST /roundtrips Bearer t {"addresses":["10.0.0.1"],"samples":2,"intervalMilliseconds":1,"timeoutMilliseconds":3}`: {
			`{"roundTrips":[{"samples":2}]}`, func() (bool, error) {
				r, err := a.RoundTrips(ctx, wire.RoundTripRequest{Addresses: []string{"10.0.0.1"}, Samples: 2, IntervalMilliseconds: 1, TimeoutMilliseconds: 3})
				return len(r.RoundTrips) == 1 && r.RoundTrips[0].Samples == 2, err
			},
		},
		"DELETE /faults/f Bearer t": {`{"concluded":true}`, func() (bool, error) {
			r, err := a.Release(ctx, "f")
			return r.Concluded, err
		}},
	} {
		answer = c.answer
		if ok, err := c.ask(); !ok || err != nil || asked != want {
			t.Errorf("%s: answered %v, %v; asked %s", want, ok, err, asked)
		}
		answer = "<html>"
		if _, err := c.ask(); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: nonsense is answered and taken: %v", want, err)
		}
	}
	for want, ask := range map[string]func() error{
		`POST /lease Bearer t {"ttlMilliseconds":1500}`: func() error { return a.Lease(ctx, 1500*time.Millisecond) },
		"DELETE /links Bearer t":                        func() error { return a.ClearLinks(ctx) },
		"POST /fence Bearer t":                          func() error { return a.Fence(ctx) },
	} {
		if err := ask(); err != nil || asked != want { // nothing of the answer is needed
			t.Errorf("%s: %v; asked %s", want, err, asked)
		}
	}
}
