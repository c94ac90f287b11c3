package parameters

import "slices"

// What every server of the family reserves. An engine adds its own names, with the other spellings of settings where its server knows
// several.
var (
	ReservedDurability = Reserved{
		Reason: "what a crash takes", Instead: "Set topology.durability",
		Names: []string{
			"innodb-flush-log-at-trx-commit", "innodb-flush-log-at-timeout", "sync-binlog", "sync-relay-log", "sync-relay-log-info",
			"sync-master-info", "innodb-doublewrite", "innodb-flush-method", "innodb-force-recovery", "innodb-checksum-algorithm",
			"tc-heuristic-recover", "default-storage-engine", "innodb-fast-shutdown", "autocommit", "completion-type",
		},
	}
	ReservedSemiSync = Reserved{
		Reason: "how commits wait for replicas", Instead: "Set topology.type SemiSync and topology.semiSync",
		Prefixes: []string{"rpl-semi-sync-"},
	}
	ReservedWriter = Reserved{
		Reason: "which node takes writes", Instead: "Remove it: replab opens one node and fences the others",
		Names: []string{
			"read-only", "innodb-read-only", "transaction-read-only", "event-scheduler", "init-connect", "init-file", "init-slave",
		},
	}
	ReservedReplication = Reserved{
		Reason: "what is replicated, and how", Instead: "Remove it: replication is set up by topology.type",
		Names: []string{
			"log-bin", "log-bin-index", "log-replica-updates", "log-slave-updates", "binlog-format", "binlog-do-db",
			"binlog-ignore-db", "replica-start", "slave-start", "replica-skip-errors", "slave-skip-errors", "replica-exec-mode",
			"slave-exec-mode", "relay-log", "relay-log-index", "relay-log-recovery", "relay-log-purge", "sporadic-binlog-dump-fail",
			"max-binlog-dump-events",
		},
		Prefixes: []string{"replicate-"},
	}
	ReservedIdentity = Reserved{
		Reason: "who a node is", Instead: "Remove it: replab numbers the nodes",
		Names: []string{
			"server-id", "report-host", "report-port", "report-user", "report-password",
		},
	}
	ReservedFiles = Reserved{
		Reason: "where a node keeps its files and what it loads", Instead: "Set topology.storage or topology.image",
		Names: []string{
			"basedir", "datadir", "tmpdir", "socket", "pid-file", "plugin-dir", "plugin-load", "plugin-load-add", "secure-file-priv",
			"log-error", "general-log-file", "slow-query-log-file", "character-sets-dir", "lc-messages-dir", "innodb-data-home-dir",
			"innodb-data-file-path", "innodb-log-group-home-dir", "innodb-undo-directory", "innodb-tmpdir",
			"innodb-temp-data-file-path", "innodb-buffer-pool-filename", "replica-load-tmpdir", "slave-load-tmpdir", "log-tc",
			"chroot", "user", "console", "gdb", "help", "verbose", "version",
		},
	}
	// ReservedLog has what could keep a line back that replab reads: of a transfer of data, of a recovered position.
	ReservedLog = Reserved{
		Reason: "what a node tells in its log", Instead: "Remove it: replab reads transfers and recoveries there",
		Names: []string{"log-error-verbosity", "log-error-suppression-list", "log-error-services"},
	}
	ReservedNetwork = Reserved{
		Reason: "how a node is reached", Instead: "Remove it: addresses and ports are laid out by replab",
		Names: []string{
			"bind-address", "port", "networking", "require-secure-transport",
		},
	}
	ReservedAccounts = Reserved{
		Reason: "whom a node lets in", Instead: "Remove it: replab makes the accounts that it needs",
		Names: []string{
			"grant-tables", "default-authentication-plugin", "default-password-lifetime", "disconnect-on-expired-password",
			"local-infile",
		},
	}
)

// With reserves more names for the same reason.
func (r Reserved) With(names ...string) Reserved {
	r.Names = slices.Concat(r.Names, names)
	return r
}

// WithPrefixes reserves also every name that begins so.
func (r Reserved) WithPrefixes(prefixes ...string) Reserved {
	r.Prefixes = slices.Concat(r.Prefixes, prefixes)
	return r
}
