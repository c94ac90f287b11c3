package social

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// api is a running app and what a test asks it.
type api struct {
	t     *testing.T
	url   string
	store *MySQLStore
}

// startApp serves the app on endpoint; change may alter its configuration. question stands in for the server's
// name: servers of one machine share its hostname, but not their ports.
func startApp(t *testing.T, endpoint wire.Endpoint, question string, change func(*wire.SocialConfig)) *api {
	t.Helper()
	cfg := wire.SocialConfig{
		Engine: "MySQL", Writes: endpoint, Reads: endpoint, PasswordHashCost: 4, MaxConnections: 4, MaxInFlight: 64,
		RequestTimeoutMilliseconds: 20_000,
	}
	if change != nil {
		change(&cfg)
	}
	if err := check(cfg); err != nil {
		t.Fatal(err)
	}
	store, err := newMySQLStore(cfg, mysqltest.Password, question)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	m := newMetrics()
	m.addPools(store)
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

// relay stands between app and server, as a proxy does.
type relay struct {
	listener net.Listener
	target   atomic.Pointer[string]
	swallow  atomic.Bool // the next answers are lost, and their connections with them

	mu    sync.Mutex
	conns []net.Conn
}

func startRelay(t *testing.T, target *mysqltest.Server) (*relay, wire.Endpoint) {
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
func (r *relay) moveTo(s *mysqltest.Server) {
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
