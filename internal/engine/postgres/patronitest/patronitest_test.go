package patronitest_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/starter"
	patroni "replab.dev/internal/topology/patroni/starter"
	"replab.dev/internal/wire"
	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) {
	if os.Getenv(command) != "" {
		if err := starter.Command(engine.Lookup[engine.Starter]{"PostgreSQL": postgres.Server{}}, []starter.Family{patroni.Family}).Execute(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(kubetest.Main(m))
}

// TestServersOfPatroniAreAsTheyAreExpected holds what Patroni makes of its configuration against what an experiment relies on.
func TestServersOfPatroniAreAsTheyAreExpected(t *testing.T) {
	settings := engine.Settings{
		Durability: engine.Relaxed,
		Parameters: map[string]string{
			"shared_buffers": "4096", "max_connections": "50", "work_mem": "1.5MB", "autovacuum": "off", "log_line_prefix": "%m: #",
			"max_wal_size": "512MB", "checkpoint_timeout": "0.1h",
		},
		Manager: &engine.Manager{
			Synchronous: engine.SyncQuorum, NodeCount: 1, TTL: 30 * time.Second, LoopWait: time.Second, RetryTimeout: 10 * time.Second,
			PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 1 << 20,
		},
	}
	nodes := patronitest.Start(t, 2, settings)
	for _, n := range nodes {
		conn := connect(t, n)
		written := maps.Clone(postgres.Parameters(settings))
		maps.Copy(written, postgres.OwnParameters(n.Name, n.RunDir))
		for name, value := range written {
			reported(t, conn, n, wire.Setting{Name: name, Value: value})
		}
		for _, want := range (postgres.Server{}).Expected(settings) {
			reported(t, conn, n, want)
		}
		if got := ask[string](t, conn, "SELECT replab_node()"); got != n.Name {
			t.Errorf("%s takes itself for %q", n.Name, got)
		}
	}
	first, second := nodes[0], nodes[1]
	conn := connect(t, first)
	await(t, "the first waits for the second", func() bool {
		return ask[string](t, conn, "SHOW synchronous_standby_names") == `ANY 1 ("a-db-1")`
	})
	second.Await("the others know that it may be promoted", "/quorum") // the server is told before

	began := time.Now()
	order := fmt.Sprintf(`{"leader": %q, "candidate": %q}`, first.Name, second.Name)
	await(t, "the second is the leader", func() bool { // an order that finds nobody in time is refused, and one after it is of no use
		first.Ask(http.MethodPost, "/switchover", order)
		return second.Ask(http.MethodGet, "/primary", "") == http.StatusOK
	})
	first.Await("it streams", "/replica")
	seconds := promotions(t, second)
	if len(seconds) == 0 || seconds[0] < float64(began.Unix()) || seconds[0] > float64(time.Now().Unix()+1) {
		t.Errorf("decisions to promote the second at %v, want them since %d", seconds, began.Unix())
	}
}

// reported holds a setting of a server against what it says.
func reported(t *testing.T, conn *pgx.Conn, n *patronitest.Node, want wire.Setting) {
	t.Helper()
	value := ask[string](t, conn, "SELECT current_setting($1)", want.Name)
	var kind postgres.Kind // a node's name is none of the server's own settings, and a text
	_ = conn.QueryRow(t.Context(), "SELECT coalesce(unit, ''), vartype FROM pg_settings WHERE name = $1", want.Name).Scan(&kind.Unit, &kind.Type)
	if !want.AnyValue && !kind.Same(want.Name, want.Value, value) {
		t.Errorf("%s: %s was to be %q and is %q (%+v)", n.Name, want.Name, want.Value, value, kind)
	}
}

// promotions are the seconds of Unix time that a node noted before it was promoted. Its making of the data is no promotion.
func promotions(t *testing.T, n *patronitest.Node) (list []float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.RunDir, "promotions"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, seconds)
	}
	return list
}

func connect(t *testing.T, n *patronitest.Node) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable",
		n.Address, postgres.Port, wire.AccountProbe, postgrestest.Password, wire.Database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func ask[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) { // between two looks
		if is() {
			return
		}
	}
	t.Fatalf("waited two minutes until %s", what)
}
