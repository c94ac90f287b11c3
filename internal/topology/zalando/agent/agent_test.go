package agent

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// leading is a manager whose node has the lock.
type leading struct{ engine.ManagerClient }

func (leading) Node(context.Context) (engine.ManagerNode, error) {
	return engine.ManagerNode{Holds: true, State: "running", Role: "primary"}, nil
}

func (leading) Cluster(context.Context) (engine.ManagerCluster, error) {
	return engine.ManagerCluster{Leader: "a-db-0", LeaderTimeline: 1, Running: 1}, nil
}

func (leading) Settings(context.Context) (engine.ManagerSettings, error) {
	return engine.ManagerSettings{Words: map[string]string{"ttl": "30"}, TTL: 30 * time.Second}, nil
}

// TestAnAgentThatSeesItsServersAddressAlone furnishes it, tells of it, and has a hand in nothing else.
func TestAnAgentThatSeesItsServersAddressAlone(t *testing.T) {
	s := postgrestest.Start(t, "a-db-0")
	admin := s.Connect(wire.AccountAdmin, "postgres")
	if _, err := admin.Exec(t.Context(), "DROP DATABASE "+wire.Database); err != nil {
		t.Fatal(err)
	}
	t.Setenv(wire.EnvPodName, "a-db-0")
	t.Setenv(wire.EnvPodUID, "uid")
	cfg := wire.AgentConfig{
		StateDir: filepath.Join(t.TempDir(), "state"), SecretDir: t.TempDir(), Manager: &wire.ManagerConfig{},
		Remote: &wire.RemoteConfig{Server: wire.Endpoint{Host: postgrestest.Host, Port: s.Port}},
	}
	for _, account := range wire.Accounts() {
		must(t, os.WriteFile(filepath.Join(cfg.SecretDir, account), []byte(postgrestest.Password), 0o600))
	}
	client := postgres.Server{}.RemoteClient(cfg.Remote.Server, wire.AccountAdmin, postgrestest.Password)
	r, err := newRemote(cfg, client, leading{})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { r.run(ctx) })
	t.Cleanup(func() {
		cancel()
		loops.Wait()
		_ = client.Close()
	})
	server := httptest.NewServer(r.handler("token"))
	t.Cleanup(server.Close)

	told := awaitTold(t, server.URL, "it takes writes and is furnished", func(n wire.NodeState) bool {
		return n.Manager.Writes && n.Manager.Furnished && n.Manager.Config != nil
	})
	if told.PodUID != "uid" || told.ServerPID != 0 || !told.Manager.Runs || len(told.Manager.Terms) != 1 || told.Manager.Terms[0].NoticedAt != nil || told.Manager.Written == 0 {
		t.Errorf("of a writer it tells %+v with %+v", told, told.Manager)
	}
	var node string
	if err := s.Connect(wire.AccountApp, wire.Database).QueryRow(t.Context(), "SELECT replab_node()").Scan(&node); err != nil || node != "a-db-0" {
		t.Errorf("the app is on node %q, %v", node, err)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", wire.AgentPathHealth, http.StatusOK},
		{"GET", wire.AgentPathReady, http.StatusOK},
		{"PUT", wire.AgentPathFaults + "x", http.StatusNotFound},
		{"PUT", wire.AgentPathLinks, http.StatusNotFound},
		{"POST", wire.AgentPathSwitchover, http.StatusUnauthorized},
	} {
		if status, body := asked(t, c.method, server.URL+c.path); status != c.status {
			t.Errorf("%s %s: %d with %q, want %d", c.method, c.path, status, body, c.status)
		}
	}
	var sample wire.Resources // of the clock alone, and no figures of its own processes
	status, body := asked(t, "GET", server.URL+wire.AgentPathResources)
	if err := json.Unmarshal([]byte(body), &sample); err != nil || status != http.StatusOK || time.Since(sample.At.Time).Abs() > time.Minute {
		t.Errorf("asked for its clock it answers %d with %q, %v", status, body, err)
	} else if sample.At = (metav1.MicroTime{}); !reflect.DeepEqual(sample, wire.Resources{OutOfSight: true}) {
		t.Errorf("of a server that is out of sight it tells %+v", sample)
	}
	s.Kill()
	told = awaitTold(t, server.URL, "the server is gone, and so is its term", func(n wire.NodeState) bool {
		return !n.Manager.Runs && n.Manager.Terms[0].To != nil
	})
	if told.Manager.Writes || told.Manager.Timeline != 0 {
		t.Errorf("of a server that is gone it tells %+v", told.Manager)
	}
	if status, _ := asked(t, "GET", server.URL+wire.AgentPathReady); status != http.StatusServiceUnavailable {
		t.Errorf("a server that is gone is ready: %d", status)
	}
}

func asked(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	must(t, err)
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(text)
}

func awaitTold(t *testing.T, url, what string, is func(wire.NodeState) bool) wire.NodeState {
	t.Helper()
	var told wire.NodeState
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // between two looks
		told = wire.NodeState{}
		_, body := asked(t, "GET", url+wire.AgentPathState)
		if err := json.Unmarshal([]byte(body), &told); err != nil || told.Manager == nil {
			t.Fatalf("it tells %q: %v", body, err)
		}
		if is(told) {
			return told
		}
	}
	t.Fatalf("waited a minute until %s: %+v with %+v", what, told, told.Manager)
	return told
}

// TestAnAgentOfAnAddressSaysWhatItLacks before it listens.
func TestAnAgentOfAnAddressSaysWhatItLacks(t *testing.T) {
	t.Setenv("USER_OF_IT", "postgres")
	remote := &wire.RemoteConfig{AccountFrom: "USER_OF_IT", PasswordFrom: "PASSWORD_OF_IT"}
	for name, c := range map[string]struct {
		cfg  wire.AgentConfig
		says string
	}{
		"no manager":  {wire.AgentConfig{Remote: remote}, `"remote" in the configuration requires "manager"`},
		"no password": {wire.AgentConfig{Remote: remote, Manager: &wire.ManagerConfig{}}, "no PASSWORD_OF_IT"},
	} {
		if err := Serve(t.Context(), c.cfg, postgres.Server{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.says)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
