package social

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// api is a running app and what a test asks it.
type api struct {
	t     *testing.T
	url   string
	store Store
}

func appConfig(endpoint wire.Endpoint) wire.SocialConfig {
	return wire.SocialConfig{
		Engine: "MySQL", Writes: endpoint, Reads: endpoint, PasswordHash: v1alpha1.PasswordSHA256, MaxConnections: 4, MaxInFlight: 64,
		RequestTimeoutMilliseconds: 20_000,
	}
}

// startApp serves the app on a real server.
func startApp(t *testing.T, endpoint wire.Endpoint) *api {
	t.Helper()
	cfg := appConfig(endpoint)
	store, err := Opens(mysql.NewStore)(cfg, mysqltest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return serve(t, cfg, store)
}

// serve serves the app over a store.
func serve(t *testing.T, cfg wire.SocialConfig, store Store) *api {
	t.Helper()
	if err := check(cfg); err != nil {
		t.Fatal(err)
	}
	m := newMetrics()
	m.registry.MustRegister(store.Collectors()...)
	server := httptest.NewUnstartedServer(nil)
	server.Config = newServer(cfg, newHandler(cfg, store, m))
	server.Start()
	t.Cleanup(server.Close)
	return &api{t: t, url: server.URL, store: store}
}

// reply is an answer of the app, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) rejected() string { return r.header.Get(wire.HeaderRejected) }

func (r reply) node() string { return r.header.Get(wire.HeaderNode) }

func (r reply) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		t.Fatalf("answer %d %q: %v", r.status, r.body, err)
	}
}

// ask sends a request; body is a string as it is, or a document to be sent as JSON.
func (a *api) ask(method, path string, body any, headers ...string) reply {
	a.t.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		var err error
		if text, err = json.Marshal(b); err != nil {
			a.t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, bytes.NewReader(text))
	if err != nil {
		a.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(answer)}
}

// register sends a good registration with a write id.
func (a *api) register(writeID string) reply {
	a.t.Helper()
	return a.ask("POST", wire.SocialPathRegister, wire.RegisterRequest{FirstName: "Ada", LastName: "Stone", Password: "pw"},
		wire.HeaderWriteID, writeID)
}

// count returns the number of rows of users that a condition selects.
func count(t *testing.T, server *mysqltest.Server, where string) (n int) {
	t.Helper()
	db := server.DB(wire.AccountProbe, wire.Database)
	if err := db.QueryRow("SELECT COUNT(*) FROM users WHERE " + where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
