package agent

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/mysqltest"
	"replab.dev/internal/protocol"
)

// nobody is the configuration of an agent whose server does not exist.
func nobody(t *testing.T) protocol.AgentConfig {
	dir := t.TempDir()
	return protocol.AgentConfig{
		Engine: "MySQL", Server: []string{"mysqld", "--defaults-file=" + dir}, Process: "mysqld",
		Socket: filepath.Join(dir, "s"), DataDir: filepath.Join(dir, "data"), StateDir: filepath.Join(dir, "state"),
	}
}

func TestRequestsThatChangeSomethingNeedTheToken(t *testing.T) {
	a := serve(t, nobody(t))
	for _, c := range []struct {
		method, path string
		guarded      bool
	}{
		{"GET", protocol.AgentPathHealth, false},
		{"GET", protocol.AgentPathReady, false},
		{"GET", protocol.AgentPathPrimary, false},
		{"OPTIONS", protocol.AgentPathPrimary, false},
		{"HEAD", protocol.AgentPathReplica, false},
		{"GET", protocol.AgentPathState, false},
		{"GET", protocol.AgentPathResources, false},
		{"GET", protocol.AgentPathFaults + "x", false},
		{"POST", protocol.AgentPathLease, true},
		{"POST", protocol.AgentPathFence, true},
		{"PUT", protocol.AgentPathFaults + "x", true},
		{"DELETE", protocol.AgentPathFaults + "x", true},
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
	request := protocol.FaultRequest{Name: "x", PodUID: "another", Action: protocol.FaultKill}
	for _, c := range []struct {
		name, method, path string
		body               any
		want               int
		says               string
	}{
		{"a lease without a ttl", "POST", protocol.AgentPathLease, protocol.Lease{}, 400, "above 0"},
		{"a lease with an unknown field", "POST", protocol.AgentPathLease, map[string]int{"ttl": 1}, 400, "ttl"},
		{"a fault under another name", "PUT", protocol.AgentPathFaults + "y", request, 400, `"y" in the path`},
		{"a fault for another pod", "PUT", protocol.AgentPathFaults + "x", request, 409, "another"},
		{"a fault that is not known", "GET", protocol.AgentPathFaults + "x", nil, 404, "x"},
		{"the end of one", "DELETE", protocol.AgentPathFaults + "x", nil, 404, "x"},
	} {
		if code, body := a.ask(c.method, c.path, c.body, nil); code != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.name, code, body)
		}
	}
	if code, _ := a.ask("POST", protocol.AgentPathFence, nil, nil); code != 200 {
		t.Errorf("fencing a server that does not exist: %d, want 200: it is dead", code)
	}
}

func TestResourcesAreTheServers(t *testing.T) {
	s := mysqltest.Start(t, "node")
	a := serve(t, configOf(t, s))
	read := func() protocol.Resources {
		var r protocol.Resources
		if code, body := a.ask("GET", protocol.AgentPathResources, nil, &r); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
		return r
	}
	before := read()
	if before.ServerPID != int64(s.Process().Pid) || before.ResidentBytes < 50<<20 || before.ResidentBytes > 8<<30 {
		t.Errorf("resources: %+v", before)
	}
	db := s.DB(protocol.AccountAdmin, "")
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

func connection(t *testing.T, s *mysqltest.Server, account string) *sql.Conn {
	t.Helper()
	c, err := s.DB(account, protocol.Database).Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
