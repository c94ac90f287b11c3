package mysql_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
)

// written are settings as people write them.
var written = map[string]string{
	"innodb-buffer-pool-size": "64M", "innodb_redo_log_capacity": "33554432", "max_connections": "123", "slow_query_log": "1",
	"general-log": "false", "long_query_time": "2.5", "transaction-isolation": "read-committed", "binlog_row_image": "minimal",
	"replica_parallel_workers": "8", "optimizer_switch": "mrr=on,index_merge=off", "sql_mode": "ANSI", "skip-name-resolve": "OFF",
	"wait_timeout": "1K", "relay_log_space_limit": "1G", "binlog_cache_size": "64K", "ft_boolean_syntax": `+ -><()~*:""&|`,
	"innodb_io_capacity": "2000", "performance-schema-instrument": "memory/%=OFF",
}

// inspect compares what a server runs with with what the settings expect; it returns what differs and what is missing.
func inspect(t *testing.T, s *mysqltest.Server, settings engine.Settings) (differs, missing []string, found engine.Inspection) {
	t.Helper()
	expected := mysql.Server{}.Expected(settings)
	var names []string
	for _, e := range expected {
		names = append(names, e.Name)
	}
	i := mysql.NewInspector(mysqltest.Password)
	found, err := i.Inspect(t.Context(), fmt.Sprintf("127.0.0.1:%d", s.Port), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range expected {
		actual, ok := found.Settings[e.Name]
		switch {
		case !ok:
			missing = append(missing, e.Name)
		case !i.Same(e.Name, e.Value, actual):
			differs = append(differs, fmt.Sprintf("%s=%s is %s", e.Name, e.Value, actual))
		}
	}
	return differs, missing, found
}

func TestAServerRunsWithWhatTheSpecSays(t *testing.T) {
	parameters := maps.Clone(written)
	for _, d := range []engine.Durability{engine.Full, engine.Volatile} {
		settings := engine.Settings{
			Durability: d, SemiSync: &engine.SemiSync{AckReplicas: 2, TimeoutMilliseconds: 1234, AfterCommit: true}, Parameters: parameters,
		}
		s := mysqltest.Start(t, "node", func(into *engine.Settings) { *into = settings })
		if refused := (mysql.Server{}).RefuseParameters(parameters); len(refused) > 0 {
			t.Fatalf("refused: %q", refused)
		}
		differs, missing, found := inspect(t, s, settings)
		if len(differs) > 0 {
			t.Errorf("%s: the server runs with other settings: %q", d, differs)
		}
		if !slices.Equal(missing, []string{"performance_schema_instrument"}) {
			t.Errorf("%s: the server says nothing of %q", d, missing)
		}
		if !strings.Contains(found.Version, ".") || len(found.Identity) != 36 {
			t.Errorf("version %q, identity %q", found.Version, found.Identity)
		}
	}
}

// TestADifferenceIsSeen for every setting that is expected: on a server that runs with other values.
func TestADifferenceIsSeen(t *testing.T) {
	s := mysqltest.Start(t, "node", mysqltest.SemiSync(1, 1e9))
	s.Exec(`SET GLOBAL sync_binlog=0; SET GLOBAL innodb_flush_log_at_trx_commit=2; SET GLOBAL init_connect='SET autocommit=0';
SET GLOBAL autocommit=OFF; SET GLOBAL rpl_semi_sync_source_timeout=77; SET GLOBAL rpl_semi_sync_source_wait_for_replica_count=3;
SET GLOBAL rpl_semi_sync_source_wait_point=AFTER_COMMIT; SET GLOBAL max_connections=99; SET GLOBAL replica_exec_mode='IDEMPOTENT'`)
	differs, missing, _ := inspect(t, s, engine.Settings{
		Durability: engine.Full, SemiSync: &engine.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 1000}, Parameters: map[string]string{"max-connections": "100"},
	})
	want := []string{
		"autocommit=ON is OFF", "init_connect= is SET autocommit=0", "replica_exec_mode=STRICT is IDEMPOTENT",
		"innodb_flush_log_at_trx_commit=1 is 2", "sync_binlog=1 is 0", "rpl_semi_sync_source_timeout=1000 is 77",
		"rpl_semi_sync_source_wait_for_replica_count=1 is 3", "rpl_semi_sync_source_wait_point=AFTER_SYNC is AFTER_COMMIT",
		"max_connections=100 is 99",
	}
	if !slices.Equal(differs, want) || len(missing) > 0 {
		t.Errorf("differs: %q, missing: %q", differs, missing)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		name, expected, actual string
		want                   bool
	}{
		{"x", "128M", "134217728", true},
		{"x", "128m", "134217728", true},
		{"x", "128M", "128", false},
		{"x", "1", "ON", true},
		{"x", "yes", "ON", true},
		{"x", "0", "ON", false},
		{"x", "2", "ON", false},
		{"x", "ON", "1", true},
		{"x", "2", "1", false},
		{"x", "2", "2.000000", true},
		{"x", "2.5", "2.000000", false},
		{"x", "read-committed", "READ-COMMITTED", true},
		{"x", "a", "b", false},
		{"x", "", "a", false},
		{"x", "a", "", false},
		{"x", "9999999999999P", "1", false},
		{"x", "PT1.5S", "PT1.500S", true},
		{"x", "PT90S", "PT1M30S", true},
		{"x", "PT0.2S", "PT0.3S", false},
		{"x", "5", "PT5S", false},
		{"sql_mode", "ANSI", "REAL_AS_FLOAT,ANSI", true},
		{"sql_mode", "", "ANSI", false},
		{"optimizer_switch", "mrr=on", "mrr=off,index_merge=on", false},
	} {
		if got := mysql.NewInspector("").Same(c.name, c.expected, c.actual); got != c.want {
			t.Errorf("%s: %q and %q: %v", c.name, c.expected, c.actual, got)
		}
	}
}

func TestAServerThatDoesNotAnswerIsAnError(t *testing.T) {
	if _, err := mysql.NewInspector("").Inspect(context.Background(), "127.0.0.1:1", nil); err == nil {
		t.Error("no error")
	}
}
