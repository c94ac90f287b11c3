package mariadb

import "replab.dev/internal/engine/family"

// Memory implements engine.Server.
func (Server) Memory(parameters map[string]string) int64 {
	return family.Memory(parameters, defaultPool)
}

// RefuseParameters implements engine.Server.
func (Server) RefuseParameters(parameters map[string]string) []string {
	return reservations.Refuse(parameters)
}

// reservations have the other spellings of settings too, where the server knows several.
var reservations = family.Reservations{
	{
		Reason: "what a crash takes", Instead: "set topology.durability",
		Names: []string{
			"innodb-flush-log-at-trx-commit", "innodb-flush-log-at-timeout", "sync-binlog", "sync-relay-log", "sync-relay-log-info",
			"sync-master-info", "innodb-doublewrite", "innodb-flush-method", "innodb-data-file-buffering", "innodb-log-file-buffering",
			"innodb-data-file-write-through", "innodb-log-file-write-through", "innodb-log-file-mmap", "innodb-force-recovery",
			"innodb-checksum-algorithm", "tc-heuristic-recover", "default-storage-engine", "enforce-storage-engine", "innodb-fast-shutdown",
			"autocommit", "completion-type", "debug-no-sync", "innodb-use-atomic-writes", "init-rpl-role",
		},
	},
	{
		Reason: "how commits wait for replicas", Instead: "set topology.type SemiSync and topology.semiSync",
		Prefixes: []string{"rpl-semi-sync-"},
	},
	{
		Reason: "which node takes writes", Instead: "replab opens one node and fences the others: remove it",
		Names: []string{
			"read-only", "innodb-read-only", "innodb-read-only-compressed", "transaction-read-only", "tx-read-only", "event-scheduler",
			"init-connect", "init-file", "init-slave",
		},
	},
	{
		Reason: "what is replicated, and how", Instead: "replication is set up by topology.type: remove it",
		Names: []string{
			"gtid-strict-mode", "gtid-domain-id", "gtid-ignore-duplicates", "gtid-pos-auto-engines", "log-bin",
			"log-bin-index", "log-basename", "log-slave-updates", "log-replica-updates", "binlog-format", "binlog-do-db",
			"binlog-ignore-db", "slave-start", "replica-start", "slave-skip-errors", "replica-skip-errors", "slave-exec-mode",
			"replica-exec-mode", "relay-log", "relay-log-index", "relay-log-info-file", "relay-log-recovery", "relay-log-purge",
			"master-info-file", "master-retry-count", "slave-ddl-exec-mode", "slave-run-triggers-for-rbr",
			"show-slave-auth-info", "sporadic-binlog-dump-fail", "max-binlog-dump-events", "sql-log-bin", "encrypt-binlog",
			"slave-parallel-threads", "replica-parallel-threads", "slave-parallel-workers", "replica-parallel-workers",
			"innodb-autoinc-lock-mode",
		},
		Prefixes: []string{"replicate-", "wsrep"},
	},
	{
		Reason: "who a node is", Instead: "replab numbers the nodes: remove it",
		Names: []string{"server-id", "server-uid", "report-host", "report-port", "report-user", "report-password"},
	},
	{
		Reason: "where a node keeps its files and what it loads", Instead: "the pod's volumes are laid out by replab; set topology.storage or topology.image",
		Names: []string{
			"basedir", "datadir", "tmpdir", "socket", "pid-file", "plugin-dir", "plugin-load", "plugin-load-add", "secure-file-priv",
			"log-error", "general-log-file", "slow-query-log-file", "log-slow-query-file", "character-sets-dir", "lc-messages-dir",
			"language", "innodb-data-home-dir", "innodb-data-file-path", "innodb-log-group-home-dir", "innodb-undo-directory",
			"innodb-tmpdir", "innodb-temp-data-file-path", "innodb-buffer-pool-filename", "slave-load-tmpdir", "replica-load-tmpdir",
			"aria-log-dir-path", "log-tc", "chroot", "user", "console", "gdb", "bootstrap", "help", "verbose", "version", "syslog",
		},
	},
	{
		Reason: "how a node is reached", Instead: "addresses and ports are laid out by replab: remove it",
		Names:    []string{"bind-address", "port", "networking", "require-secure-transport"},
		Prefixes: []string{"extra-", "proxy-protocol-"},
	},
	{
		Reason: "whom a node lets in", Instead: "replab makes the accounts that it needs: remove it",
		Names: []string{
			"grant-tables", "default-authentication-plugin", "default-password-lifetime", "disconnect-on-expired-password", "local-infile",
			"old-passwords", "secure-auth", "max-password-errors", "unix-socket", "strict-password-validation",
		},
	},
}
