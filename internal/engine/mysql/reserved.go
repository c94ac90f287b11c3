package mysql

import "replab.dev/internal/engine/family"

// Memory implements engine.Server.
func (Server) Memory(parameters map[string]string) int64 {
	return family.Memory(parameters, defaultPool)
}

// RefuseParameters implements engine.Server.
func (Server) RefuseParameters(parameters map[string]string) []string {
	return reservations.Refuse(parameters)
}

// reservations have the old names of settings too, and MariaDB's where a server that is told both would mind.
var reservations = family.Reservations{
	{
		Reason: "what a crash takes", Instead: "set topology.durability",
		Names: []string{
			"innodb-flush-log-at-trx-commit", "innodb-flush-log-at-timeout", "sync-binlog", "sync-relay-log", "sync-relay-log-info",
			"sync-source-info", "sync-master-info", "innodb-doublewrite", "innodb-flush-method", "innodb-force-recovery",
			"innodb-force-load-corrupted", "innodb-checksum-algorithm", "innodb-log-checksums", "binlog-error-action",
			"tc-heuristic-recover", "default-storage-engine", "innodb-fast-shutdown", "autocommit", "completion-type",
		},
	},
	{
		Reason: "how commits wait for replicas", Instead: "set topology.type SemiSync and topology.semiSync",
		Prefixes: []string{"rpl-semi-sync-"},
	},
	{
		Reason: "which node takes writes", Instead: "replab opens one node and fences the others: remove it",
		Names: []string{
			"read-only", "super-read-only", "innodb-read-only", "transaction-read-only", "offline-mode", "event-scheduler", "init-connect",
			"init-file", "init-replica", "init-slave", "persisted-globals-load",
		},
	},
	{
		Reason: "what is replicated, and how", Instead: "replication is set up by topology.type: remove it",
		Names: []string{
			"gtid-mode", "enforce-gtid-consistency", "log-bin", "log-bin-index", "log-replica-updates", "log-slave-updates", "binlog-format",
			"binlog-do-db", "binlog-ignore-db", "replica-start", "slave-start", "replica-skip-errors", "slave-skip-errors",
			"replica-exec-mode", "slave-exec-mode", "relay-log", "relay-log-index", "relay-log-recovery", "relay-log-purge",
			"clone-valid-donor-list", "performance-schema", "sporadic-binlog-dump-fail", "max-binlog-dump-events",
		},
		Prefixes: []string{"replicate-", "group-replication"},
	},
	{
		Reason: "who a node is", Instead: "replab numbers the nodes: remove it",
		Names: []string{"server-id", "server-id-bits", "server-uuid", "report-host", "report-port", "report-user", "report-password"},
	},
	{
		Reason: "where a node keeps its files and what it loads", Instead: "the pod's volumes are laid out by replab; set topology.storage or topology.image",
		Names: []string{
			"basedir", "datadir", "tmpdir", "socket", "pid-file", "plugin-dir", "plugin-load", "plugin-load-add", "early-plugin-load",
			"secure-file-priv", "log-error", "general-log-file", "slow-query-log-file", "character-sets-dir", "lc-messages-dir",
			"innodb-data-home-dir", "innodb-data-file-path", "innodb-log-group-home-dir", "innodb-undo-directory",
			"innodb-doublewrite-dir", "innodb-directories", "innodb-tmpdir", "innodb-temp-data-file-path",
			"innodb-temp-tablespaces-dir", "innodb-redo-log-archive-dirs", "innodb-buffer-pool-filename", "replica-load-tmpdir",
			"slave-load-tmpdir", "log-tc", "chroot", "user", "daemonize", "console", "gdb", "initialize", "initialize-insecure",
			"upgrade", "validate-config", "help", "verbose", "version",
		},
	},
	{
		Reason: "how a node is reached", Instead: "addresses and ports are laid out by replab: remove it",
		Names: []string{
			"bind-address", "port", "networking", "require-secure-transport", "create-admin-listener-thread", "extra-port",
		},
		Prefixes: []string{"mysqlx", "admin-"},
	},
	{
		Reason: "whom a node lets in", Instead: "replab makes the accounts that it needs: remove it",
		Names: []string{
			"grant-tables", "authentication-policy", "default-authentication-plugin", "mandatory-roles", "activate-all-roles-on-login",
			"partial-revokes", "default-password-lifetime", "disconnect-on-expired-password", "local-infile", "log-raw",
		},
	},
}
