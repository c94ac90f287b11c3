package mariadb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// written are settings as people write them.
var written = map[string]string{
	"innodb-buffer-pool-size": "64M", "innodb_log_file_size": "33554432", "max_connections": "123", "slow_query_log": "1", "general-log": "false",
	"long_query_time": "2.5", "transaction-isolation": "read-committed", "binlog_row_image": "minimal", "sql_mode": "ANSI", "skip-name-resolve": "OFF",
	"optimizer_switch": "mrr=on,index_merge=off", "wait_timeout": "1K", "relay_log_space_limit": "1G", "binlog_cache_size": "64K", "innodb_io_capacity": "2000",
}

// inspect compares what a server runs with with what the settings expect; it returns what differs or is missing.
func inspect(t *testing.T, s *familytest.Server, settings engine.Settings) (differs []string, found engine.Inspection) {
	t.Helper()
	expected := mariadb.Server{}.Expected(settings)
	var names []string
	for _, e := range expected {
		names = append(names, e.Name)
	}
	i := mariadb.NewInspector(familytest.Password)
	found, err := i.Inspect(t.Context(), fmt.Sprintf("127.0.0.1:%d", s.Port), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range expected {
		actual, ok := found.Settings[e.Name]
		if !ok {
			differs = append(differs, e.Name+" is missing")
		} else if !i.Same(e.Name, e.Value, actual) {
			differs = append(differs, fmt.Sprintf("%s=%s is %s", e.Name, e.Value, actual))
		}
	}
	return differs, found
}

func TestAServerRunsWithWhatTheSpecSays(t *testing.T) {
	if refused := (mariadb.Server{}).RefuseParameters(written); len(refused) > 0 {
		t.Fatalf("refused: %q", refused)
	}
	for _, d := range []engine.Durability{engine.Full, engine.Relaxed, engine.Volatile} {
		settings := engine.Settings{
			Durability: d, SemiSync: &engine.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 1234, AfterCommit: d == engine.Volatile}, Parameters: written,
		}
		s := mariadbtest.Start(t, "node", func(into *engine.Settings) { *into = settings })
		differs, found := inspect(t, s, settings)
		if len(differs) > 0 {
			t.Errorf("%s: the server runs with other settings: %q", d, differs)
		}
		if !strings.Contains(found.Version, "MariaDB") || found.Identity == "" {
			t.Errorf("version %q, identity %q", found.Version, found.Identity)
		}
	}
}

// TestADifferenceIsSeen on a server that runs with other values.
func TestADifferenceIsSeen(t *testing.T) {
	s := mariadbtest.Start(t, "node", familytest.SemiSync(1, 1e9))
	s.Exec(`SET GLOBAL sync_binlog=0; SET GLOBAL innodb_flush_log_at_trx_commit=2; SET GLOBAL init_connect='SET autocommit=0'; SET GLOBAL gtid_strict_mode=OFF;
SET GLOBAL rpl_semi_sync_master_timeout=77; SET GLOBAL rpl_semi_sync_master_wait_point=AFTER_COMMIT; SET GLOBAL rpl_semi_sync_master_wait_no_slave=OFF;
SET GLOBAL rpl_semi_sync_slave_enabled=OFF; SET GLOBAL slave_exec_mode='IDEMPOTENT'; SET GLOBAL max_connections=99; SET GLOBAL slave_parallel_threads=4`)
	differs, _ := inspect(t, s, engine.Settings{
		SemiSync: &engine.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 1000}, Parameters: map[string]string{"max-connections": "100"},
	})
	for _, name := range []string{
		"sync_binlog", "innodb_flush_log_at_trx_commit", "init_connect", "gtid_strict_mode", "rpl_semi_sync_master_timeout", "rpl_semi_sync_master_wait_point",
		"rpl_semi_sync_master_wait_no_slave", "rpl_semi_sync_slave_enabled", "slave_exec_mode", "max_connections", "slave_parallel_threads",
	} {
		if !slices.ContainsFunc(differs, func(d string) bool { return strings.HasPrefix(d, name+"=") }) {
			t.Errorf("that %s differs is not seen in %q", name, differs)
		}
	}
	if len(differs) != 11 {
		t.Errorf("%d differences: %q", len(differs), differs)
	}
}

// TestOnlyReplabsAccountsAreLetIn, and none of the app or the instruments may write on a server that is read-only.
func TestOnlyReplabsAccountsAreLetIn(t *testing.T) {
	s := mariadbtest.Start(t, "node")
	var others string
	admin := s.DB(wire.AccountAdmin, "")
	query := `SELECT COALESCE(GROUP_CONCAT(User, '@', Host), '') FROM mysql.global_priv WHERE User NOT IN ('mariadb.sys', 'PUBLIC', '` +
		strings.Join(wire.Accounts(), "', '") + "')"
	if err := admin.QueryRow(query).Scan(&others); err != nil || others != "" {
		t.Errorf("let in too: %q, %v", others, err)
	}
	for _, account := range wire.Accounts() {
		var rights string
		if err := admin.QueryRow("SELECT GROUP_CONCAT(PRIVILEGE_TYPE) FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = ?", "'"+account+"'@'%'").Scan(&rights); err != nil {
			t.Fatal(err)
		}
		if may := strings.Contains(rights, "READ_ONLY ADMIN") || strings.Contains(rights, "READ ONLY ADMIN") || strings.Contains(rights, "SUPER"); may != (account == wire.AccountAdmin) {
			t.Errorf("%s has %s", account, rights)
		}
	}
	for _, account := range []string{wire.AccountApp, wire.AccountProbe} {
		if _, err := s.DB(account, wire.Database).Exec("INSERT INTO probe_writes VALUES (1, 'x')"); err == nil || !strings.Contains(err.Error(), "1290") {
			t.Errorf("%s on a read-only server: %v", account, err)
		}
	}
}
