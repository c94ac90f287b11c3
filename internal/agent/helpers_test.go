package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/secrettest"
	patroni "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

const token = secrettest.Token

// running is an agent that serves.
type running struct {
	t    *testing.T
	url  string
	stop func()      // ends it without a word to the server
	held func() bool // its lease
}

// configOf is the configuration of an agent beside a server that has no wrapper.
func configOf(t *testing.T, s *enginetest.Server) wire.AgentConfig {
	argv, comm := s.Command()
	return wire.AgentConfig{
		Engine: s.Flavor.Engine, Server: argv, Process: comm, Socket: s.Socket,
		StateDir: filepath.Join(s.Dir, "state"), HoldDir: filepath.Join(s.Dir, "state", "holds"), SecretDir: secrettest.SecretDir(t), Leases: true,
	}
}

// serve runs an agent in this process.
func serve(t *testing.T, cfg wire.AgentConfig) *running {
	t.Helper()
	return serveWith(t, cfg, enginetest.Locals[cfg.Engine])
}

func serveWith(t *testing.T, cfg wire.AgentConfig, e engine.Local) *running {
	t.Helper()
	t.Setenv(wire.EnvPodUID, agenttest.PodUID)
	client, err := e.Client(cfg.Socket, enginetest.Password)
	must(t, err)
	finder := proc.NewFinder(cfg.Process, func(argv []string) bool { return e.IsServer(cfg.Server, argv) })
	a, err := newAPI(cfg, finder, client)
	must(t, err)
	families := part.Families{Parts: []part.Make{patroni.NewPart}}
	a.part, err = families.PartOf(part.Node{Config: cfg, Name: os.Getenv(wire.EnvPodName), Engine: e, Server: finder, Client: client, Password: enginetest.Password})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		a.run(ctx)
		close(ended)
	}()
	web := httptest.NewServer(a.handler(token))
	r := &running{t: t, url: web.URL, held: func() bool { return a.keeper.held() }, stop: func() {
		cancel()
		<-ended
		web.Close()
		_ = client.Close()
	}}
	t.Cleanup(r.stop)
	return r
}

// ask sends a request and decodes a 200 answer into the given pointer, if any. It returns the status and other bodies.
func (r *running) ask(method, path string, body, into any) (int, string) {
	r.t.Helper()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		must(r.t, err)
		text = strings.NewReader(string(b))
	}
	request, err := http.NewRequest(method, r.url+path, text)
	must(r.t, err)
	if method != http.MethodGet {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	must(r.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must(r.t, err)
	if into != nil && response.StatusCode == http.StatusOK {
		must(r.t, json.Unmarshal(answer, into))
	}
	return response.StatusCode, string(answer)
}

// is asserts what a role endpoint answers.
func (r *running) is(path string) bool {
	r.t.Helper()
	code, body := r.ask(http.MethodGet, path, nil, nil)
	if code != http.StatusOK && code != http.StatusServiceUnavailable {
		r.t.Fatalf("%s answers %d: %s", path, code, body)
	}
	return code == http.StatusOK
}

// why is what a role endpoint says.
func (r *running) why(path string) string {
	r.t.Helper()
	_, body := r.ask(http.MethodGet, path, nil, nil)
	return body
}

func (r *running) becomes(path string, want bool) {
	r.t.Helper()
	agenttest.Eventually(r.t, fmt.Sprintf("%s answers %v", path, want), func() bool { return r.is(path) == want })
}

func (r *running) state() wire.NodeState {
	r.t.Helper()
	var s wire.NodeState
	if code, body := r.ask(http.MethodGet, wire.AgentPathState, nil, &s); code != http.StatusOK {
		r.t.Fatalf("state: %d %s", code, body)
	}
	return s
}

// take takes a lease; it asks again while the server is being fenced.
func (r *running) take(ttlMilliseconds int64) {
	r.t.Helper()
	agenttest.Eventually(r.t, "the lease is given", func() bool {
		code, body := r.ask(http.MethodPost, wire.AgentPathLease, wire.Lease{TTLMilliseconds: ttlMilliseconds}, nil)
		if code != http.StatusOK && code != http.StatusConflict {
			r.t.Fatalf("lease: %d %s", code, body)
		}
		return code == http.StatusOK
	})
}

// leads has a server be the primary by a lease, which is taken again where the last one ended before the server was open.
func (r *running) leads(s *enginetest.Server, ttlMilliseconds int64) {
	r.t.Helper()
	agenttest.Eventually(r.t, "it is the primary", func() bool {
		r.take(ttlMilliseconds)
		s.Open()
		return r.is(wire.AgentPathPrimary)
	})
}

// fault asks for a fault, and again until it is concluded.
func (r *running) fault(action wire.FaultAction, name string, holdMilliseconds int64, addresses ...string) wire.FaultRecord {
	r.t.Helper()
	var record wire.FaultRecord
	request := wire.FaultRequest{Name: name, PodUID: agenttest.PodUID, Action: action, HoldMilliseconds: holdMilliseconds, Addresses: addresses}
	agenttest.Eventually(r.t, "the fault is concluded", func() bool {
		if code, body := r.ask(http.MethodPut, wire.AgentPathFaults+name, request, &record); code != http.StatusOK {
			r.t.Fatalf("fault: %d %s", code, body)
		}
		return record.Concluded
	})
	return record
}

func (r *running) release(name string) wire.FaultRecord {
	r.t.Helper()
	var record wire.FaultRecord
	if code, body := r.ask(http.MethodDelete, wire.AgentPathFaults+name, nil, &record); code != http.StatusOK {
		r.t.Fatalf("release: %d %s", code, body)
	}
	return record
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
