package agent

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// nobody is the configuration of an agent whose server does not exist.
func nobody(t *testing.T) wire.AgentConfig {
	dir := t.TempDir()
	return wire.AgentConfig{
		Engine: "MySQL", Server: []string{"mysqld", "--defaults-file=" + dir}, Process: "mysqld",
		Socket: filepath.Join(dir, "s"), StateDir: filepath.Join(dir, "state"), HoldDir: filepath.Join(dir, "state", "holds"), Leases: true,
	}
}

func TestRequestsThatChangeSomethingNeedTheToken(t *testing.T) {
	a := serve(t, nobody(t))
	for _, c := range []struct {
		method, path string
		guarded      bool
	}{
		{"GET", wire.AgentPathHealth, false},
		{"GET", wire.AgentPathReady, false},
		{"GET", wire.AgentPathPrimary, false},
		{"OPTIONS", wire.AgentPathPrimary, false},
		{"HEAD", wire.AgentPathReplica, false},
		{"GET", wire.AgentPathState, false},
		{"GET", wire.AgentPathResources, false},
		{"GET", wire.AgentPathFaults + "x", false},
		{"POST", wire.AgentPathLease, true},
		{"POST", wire.AgentPathFence, true},
		{"PUT", wire.AgentPathFaults + "x", true},
		{"DELETE", wire.AgentPathFaults + "x", true},
		{"GET", wire.AgentPathLinks, false},
		{"PUT", wire.AgentPathLinks, true},
		{"DELETE", wire.AgentPathLinks, true},
		{"POST", wire.AgentPathRoundTrips, true},
	} {
		request, err := http.NewRequest(c.method, a.url+c.path, nil)
		must(t, err)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		response.Body.Close()
		if (response.StatusCode == http.StatusUnauthorized) != c.guarded || response.StatusCode == http.StatusMethodNotAllowed {
			t.Errorf("%s %s without a token: %d", c.method, c.path, response.StatusCode)
		}
	}
}

func TestBadRequestsAreRefusedWithTheirReason(t *testing.T) {
	a := serve(t, nobody(t))
	request := wire.FaultRequest{Name: "x", PodUID: "another", Action: wire.FaultKill}
	for _, c := range []struct {
		name, method, path string
		body               any
		want               int
		says               string
	}{
		{"a lease without a ttl", "POST", wire.AgentPathLease, wire.Lease{}, 400, "above 0"},
		{"a lease with an unknown field", "POST", wire.AgentPathLease, map[string]int{"ttl": 1}, 400, "ttl"},
		{"a fault under another name", "PUT", wire.AgentPathFaults + "y", request, 400, `"y" in the path`},
		{"a fault for another pod", "PUT", wire.AgentPathFaults + "x", request, 409, "another"},
		{"a fault that is not known", "GET", wire.AgentPathFaults + "x", nil, 404, "x"},
		{"links of another pod", "PUT", wire.AgentPathLinks, wire.Links{PodUID: "another"}, 409, "another"},
		{"links to nowhere", "PUT", wire.AgentPathLinks, wire.Links{PodUID: agenttest.PodUID, Peers: []wire.Peer{{Address: "db-0"}}}, 400, "db-0"},
		{"the end of no links", "DELETE", wire.AgentPathLinks, nil, 200, "session"},
		{"no round trip", "POST", wire.AgentPathRoundTrips, wire.RoundTripRequest{}, 400, "0 samples"},
		{"the end of one", "DELETE", wire.AgentPathFaults + "x", nil, 404, "x"},
	} {
		if code, body := a.ask(c.method, c.path, c.body, nil); code != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.name, code, body)
		}
	}
	if code, _ := a.ask("POST", wire.AgentPathFence, nil, nil); code != 200 {
		t.Errorf("fencing a server that does not exist: %d, want 200: it is dead", code)
	}
}

func TestResourcesAreTheServers(t *testing.T) {
	s := enginetest.Start(t, "node")
	a := serve(t, configOf(t, s))
	read := func() wire.Resources {
		var r wire.Resources
		if code, body := a.ask("GET", wire.AgentPathResources, nil, &r); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
		return r
	}
	before := read()
	if before.ServerPID != int64(s.Process().Pid) || before.ResidentBytes < 50<<20 || before.ResidentBytes > 8<<30 {
		t.Errorf("resources: %+v", before)
	}
	db := s.DB(wire.AccountAdmin, "")
	agenttest.Eventually(t, "work shows as CPU time", func() bool {
		_, err := db.Exec("DO BENCHMARK(2000000, SHA2('x', 256))")
		must(t, err)
		return read().CPUMicroseconds-before.CPUMicroseconds > 200_000
	})
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("this kernel counts no block I/O")
	}
	if after := read(); after.WrittenBytes < before.WrittenBytes || !after.At.After(before.At.Time) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func connection(t *testing.T, s *enginetest.Server, account string) *sql.Conn {
	t.Helper()
	c, err := s.DB(account, wire.Database).Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
