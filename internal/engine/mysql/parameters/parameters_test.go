package parameters

import (
	"strings"
	"testing"
)

func TestRefuseParameters(t *testing.T) {
	cases := []struct{ name, value, says string }{
		// What another field of the spec says.
		{"sync_binlog", "0", "Set topology.durability"},
		{"innodb-flush-log-at-trx-commit", "2", "Set topology.durability"},
		{"innodb_doublewrite", "OFF", "Set topology.durability"},
		{"autocommit", "0", "Set topology.durability"},
		{"rpl_semi_sync_source_timeout", "1", "topology.semiSync"},
		{"loose-rpl_semi_sync_master_enabled", "OFF", "topology.semiSync"},
		{"loose-read-only", "0", "which node takes writes"},
		{"skip-super_read_only", "1", "which node takes writes"},
		{"init_connect", "SET autocommit=0", "which node takes writes"},
		{"skip-log-bin", "1", "what is replicated"},
		{"disable-log-bin", "1", "what is replicated"},
		{"loose-skip-log_bin", "1", "what is replicated"},
		{"loose-loose-gtid-mode", "OFF", "what is replicated"},
		{"enable_loose-binlog-format", "STATEMENT", "what is replicated"},
		{"maximum-sync-binlog", "0", "Set topology.durability"},
		{"replica-skip-errors", "all", "what is replicated"},
		{"slave_skip_errors", "all", "what is replicated"},
		{"replicate_do_db", "x", "what is replicated"},
		{"replicate-wild-ignore-table", "x.%", "what is replicated"},
		{"binlog-do-db", "x", "what is replicated"},
		{"performance_schema", "OFF", "what is replicated"},
		{"wsrep_sync_wait", "1", "what is replicated"},
		{"pxc_strict_mode", "ENFORCING", "what is replicated"},
		{"innodb_autoinc_lock_mode", "1", "what is replicated"},
		{"server_id", "1", "who a node is"},
		{"datadir", "/tmp", "where a node keeps its files"},
		{"plugin-load-add", "x.so", "where a node keeps its files"},
		{"bind-address", "127.0.0.1", "how a node is reached"},
		{"skip-networking", "1", "how a node is reached"},
		{"mysqlx_port", "3306", "how a node is reached"},
		{"admin_address", "::", "how a node is reached"},
		{"log_error_verbosity", "1", "what a node tells in its log"},
		{"log-error-suppression-list", "MY-000000", "what a node tells in its log"},
		{"log_error_services", "log_sink_json", "what a node tells in its log"},
		{"skip-grant-tables", "1", "whom a node lets in"},
		{"local_infile", "OFF", "whom a node lets in"},
		// Upper case is no name of a setting to the server, and is not a way around either.
		{"Sync_Binlog", "0", "Set topology.durability"},
		{"Max_Connections", "1", "invalid parameter name"},
		{"max_connections=1\n[mysqld]", "1", "invalid parameter name"},
		{"!include", "/tmp/x", "invalid parameter name"},
		// A prefix of a setting that is free.
		{"loose-max_connections", "1", "Name the setting max-connections itself"},
		{"maximum-sort-buffer-size", "1", "Name the setting sort-buffer-size itself"},
		{"skip-slow-query-log", "1", "Name the setting slow-query-log itself"},
		// Values that the server would read otherwise.
		{"max_connections", "7 # few", "'#'"},
		{"max_connections", "7#few", "'#'"},
		{"max_connections", " 7", "spaces"},
		{"max_connections", "7\t", "control character"},
		{"max_connections", "7\nsync_binlog=0", "one line"},
		{"max_connections", "7\r", "control character"},
		{"ft_boolean_syntax", `"a"`, "quotes"},
		{"ft_boolean_syntax", `'a'`, "quotes"},
		{"ft_boolean_syntax", `a\sb`, "one character"},
	}
	for _, c := range cases {
		refused := Rules{}.RefuseParameters(map[string]string{c.name: c.value})
		if len(refused) != 1 || !strings.Contains(refused[0].Why, c.says) || refused[0].Name != c.name {
			t.Errorf("%s=%q: refused with %q, want one sentence with %q", c.name, c.value, refused, c.says)
		}
	}
}

func TestFreeParametersAreNotRefused(t *testing.T) {
	free := map[string]string{
		"max_connections": "100", "innodb-buffer-pool-size": "256M", "replica_parallel_workers": "8", "binlog_row_image": "MINIMAL",
		"transaction-isolation": "READ-COMMITTED", "skip-name-resolve": "OFF", "enable-cascade-triggers": "ON", "sql_mode": "",
		"innodb_io_capacity": "2000", "ft_boolean_syntax": `+ -><()~*:""&|`, "performance-schema-digests-size": "100",
		"optimizer_switch": "mrr=on,index_merge=off", "relay_log_space_limit": "1G", "innodb-doublewrite-pages": "16",
	}
	if refused := (Rules{}).RefuseParameters(free); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
}

func TestOneSettingUnderTwoNames(t *testing.T) {
	refused := Rules{}.RefuseParameters(map[string]string{"max_connections": "1", "max-connections": "2"})
	if len(refused) != 1 || !strings.Contains(refused[0].Why, "max-connections is the same setting") {
		t.Errorf("refused with %q", refused)
	}
}
