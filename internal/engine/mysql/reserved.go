package mysql

import (
	"slices"
	"strings"
)

// reserved are settings that are not an experiment's to choose by name, for one reason each. The names are plain: see plainName.
type reserved struct {
	reason  string // what they decide
	instead string // what to do instead
	names   []string
	// prefixes reserve every name that begins so.
	prefixes []string
}

// reservations have the old names of settings too, and MariaDB's where a server that is told both would mind.
var reservations = []reserved{
	{
		reason: "what a crash takes", instead: "set topology.durability",
		names: []string{
			"innodb-flush-log-at-trx-commit", "innodb-flush-log-at-timeout", "sync-binlog", "sync-relay-log", "sync-relay-log-info",
			"sync-source-info", "sync-master-info", "innodb-doublewrite", "innodb-flush-method", "innodb-force-recovery",
			"innodb-force-load-corrupted", "innodb-checksum-algorithm", "innodb-log-checksums", "binlog-error-action",
			"tc-heuristic-recover", "default-storage-engine", "innodb-fast-shutdown", "autocommit", "completion-type",
		},
	},
	{
		reason: "how commits wait for replicas", instead: "set topology.type SemiSync and topology.semiSync",
		prefixes: []string{"rpl-semi-sync-"},
	},
	{
		reason: "which node takes writes", instead: "replab opens one node and fences the others: remove it",
		names: []string{
			"read-only", "super-read-only", "innodb-read-only", "transaction-read-only", "offline-mode", "event-scheduler", "init-connect",
			"init-file", "init-replica", "init-slave", "persisted-globals-load",
		},
	},
	{
		reason: "what is replicated, and how", instead: "replication is set up by topology.type: remove it",
		names: []string{
			"gtid-mode", "enforce-gtid-consistency", "log-bin", "log-bin-index", "log-replica-updates", "log-slave-updates", "binlog-format",
			"binlog-do-db", "binlog-ignore-db", "replica-start", "slave-start", "replica-skip-errors", "slave-skip-errors",
			"replica-exec-mode", "slave-exec-mode", "relay-log", "relay-log-index", "relay-log-recovery", "relay-log-purge",
			"clone-valid-donor-list", "performance-schema", "sporadic-binlog-dump-fail", "max-binlog-dump-events",
		},
		prefixes: []string{"replicate-", "group-replication"},
	},
	{
		reason: "who a node is", instead: "replab numbers the nodes: remove it",
		names: []string{"server-id", "server-id-bits", "server-uuid", "report-host", "report-port", "report-user", "report-password"},
	},
	{
		reason: "where a node keeps its files and what it loads", instead: "the pod's volumes are laid out by replab; set topology.storage or topology.image",
		names: []string{
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
		reason: "how a node is reached", instead: "addresses and ports are laid out by replab: remove it",
		names: []string{
			"bind-address", "port", "networking", "require-secure-transport", "create-admin-listener-thread", "extra-port",
		},
		prefixes: []string{"mysqlx", "admin-"},
	},
	{
		reason: "whom a node lets in", instead: "replab makes the accounts that it needs: remove it",
		names: []string{
			"grant-tables", "authentication-policy", "default-authentication-plugin", "mandatory-roles", "activate-all-roles-on-login",
			"partial-revokes", "default-password-lifetime", "disconnect-on-expired-password", "local-infile", "log-raw",
		},
	},
}

// reservation finds out why a setting is reserved, by its plain name; nil when it is not.
func reservation(plain string) *reserved {
	for i, r := range reservations {
		begins := func(prefix string) bool { return strings.HasPrefix(plain, prefix) }
		if slices.Contains(r.names, plain) || slices.ContainsFunc(r.prefixes, begins) {
			return &reservations[i]
		}
	}
	return nil
}
