package postgres_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
)

var update = flag.Bool("update", false, "write what the tests find to testdata")

// place is as a plan lays it out.
var place = engine.Place{ConfigDir: "/etc/replab", DataDir: "/var/lib/replab/data", RunDir: "/run/replab", TmpDir: "/tmp", Port: postgres.Port}

// managed are the settings of three nodes with Patroni's own defaults.
func managed(mode engine.SyncMode, change func(*engine.Settings)) engine.Settings {
	s := engine.Settings{Manager: &engine.Manager{
		Scope: "a-db", Namespace: "ns", Labels: map[string]string{"app.kubernetes.io/managed-by": "replab", "replab.dev/experiment": "a"},
		ScopeLabel: "replab.dev/scope", RoleLabel: "replab.dev/role", WriterValue: "Writer", ReaderValue: "Reader",
		Synchronous: mode, NodeCount: 1, TTL: 30 * time.Second, LoopWait: 10 * time.Second, RetryTimeout: 10 * time.Second,
		PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 1 << 20,
	}}
	if change != nil {
		change(&s)
	}
	return s
}

// TestConfigurations compares them with the kept ones: `go test ./internal/engine/postgres -update` writes those. All but the first hold
// only what differs from it.
func TestConfigurations(t *testing.T) {
	first := postgres.Server{}.Program(place, managed(engine.SyncOff, nil)).Config
	for name, s := range map[string]engine.Settings{
		"off": managed(engine.SyncOff, nil), "on": managed(engine.SyncOn, nil), "quorum": managed(engine.SyncQuorum, nil),
		"quorum-strict-2": managed(engine.SyncQuorum, func(s *engine.Settings) { s.Manager.Strict, s.Manager.NodeCount = true, 2 }),
		"fast": managed(engine.SyncOff, func(s *engine.Settings) {
			s.Manager.TTL, s.Manager.LoopWait, s.Manager.RetryTimeout, s.Manager.PrimaryStartTimeout = 20*time.Second, 2*time.Second, 3*time.Second, 0
			s.Manager.MaxLagBytes = 16 << 20
		}),
		"failsafe": managed(engine.SyncOn, func(s *engine.Settings) { s.Manager.Failsafe = true }),
		"parameters": managed(engine.SyncOff, func(s *engine.Settings) {
			s.Durability = engine.Relaxed
			s.Parameters = map[string]string{"shared_buffers": "1GB", "autovacuum": "off", "log_line_prefix": "%m: #", "work_mem": "8192"}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got := postgres.Server{}.Program(place, s).Config
			if name != "off" {
				got = changed(first, got)
			}
			path := filepath.Join("testdata", "patroni-"+name+".yml")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("kept and made differ:\n%s", diff)
			}
		})
	}
}

// changed are the lines of b that a has not, and after "-" those of a that b has not.
func changed(a, b string) string {
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	var added strings.Builder
	for line := range strings.Lines(b) {
		if count[line]--; count[line] < 0 {
			added.WriteString(line)
		}
	}
	for line := range strings.Lines(a) {
		if count[line] > 0 {
			count[line]--
			added.WriteString("-" + line)
		}
	}
	return added.String()
}

func TestProgram(t *testing.T) {
	p := postgres.Server{}.Program(place, managed(engine.SyncOff, nil))
	if got := strings.Join(p.Argv, " "); got != "postgres -D /var/lib/replab/data" || p.Process != "postgres" || p.Socket != "/run/replab/.s.PGSQL.5432" {
		t.Errorf("the server: %s, process %s, socket %s", got, p.Process, p.Socket)
	}
	if got := strings.Join(p.Manager.Argv, " "); got != "patroni /run/replab/patroni.yml" || p.Manager.URL != "http://127.0.0.1:8008" {
		t.Errorf("the manager: %s at %s", got, p.Manager.URL)
	}
}

// TestWhatPatroniIsToKeepIsWhatItIsGiven: by name and value, in the part of its configuration that goes to its store.
func TestWhatPatroniIsToKeepIsWhatItIsGiven(t *testing.T) {
	for _, s := range []engine.Settings{
		managed(engine.SyncOff, nil), managed(engine.SyncOn, nil),
		managed(engine.SyncQuorum, func(s *engine.Settings) {
			s.Manager.Strict, s.Manager.NodeCount, s.Manager.MaxLagBytes = true, 2, 1<<40
		}),
	} {
		var config struct {
			Bootstrap struct{ DCS map[string]json.RawMessage }
		}
		if err := yaml.Unmarshal([]byte(postgres.Server{}.Program(place, s).Config), &config); err != nil {
			t.Fatal(err)
		}
		given := map[string]string{}
		for name, value := range config.Bootstrap.DCS {
			if name != "postgresql" {
				given[name] = strings.Trim(string(value), `"`)
			}
		}
		if d := cmp.Diff(given, postgres.Server{}.Kept(s)); d != "" {
			t.Errorf("given and to keep (-given +kept):\n%s", d)
		}
	}
}
