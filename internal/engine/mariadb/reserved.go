package mariadb

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// Memory implements engine.Server.
func (Server) Memory(parameters map[string]string) engine.Need {
	return family.Memory(parameters, defaultPool)
}

// LogSize implements engine.Server.
func (Server) LogSize(parameters map[string]string) engine.Need {
	return family.LogSize(parameters, "innodb_log_file_size", defaultLog)
}

// RefuseParameters implements engine.Server.
func (Server) RefuseParameters(parameters map[string]string) []string {
	return reservations.Refuse(parameters)
}

// Reserved are all settings that are refused by name. What the API refuses is held against it.
func (Server) Reserved() family.Reservations { return reservations }

// reservations have the other spellings of settings too, where the server knows several, and MySQL's, which it does not know at all.
var reservations = family.Reservations{
	family.ReservedDurability.With(
		"innodb-data-file-buffering", "innodb-log-file-buffering", "innodb-data-file-write-through", "innodb-log-file-write-through",
		"innodb-log-file-mmap", "enforce-storage-engine", "debug-no-sync", "innodb-use-atomic-writes", "init-rpl-role",
	),
	family.ReservedSemiSync,
	family.ReservedWriter.With("innodb-read-only-compressed", "tx-read-only", "super-read-only"),
	family.ReservedReplication.With(
		"gtid-mode", "enforce-gtid-consistency", "gtid-strict-mode", "gtid-domain-id", "gtid-ignore-duplicates", "gtid-pos-auto-engines", "log-basename",
		"relay-log-info-file", "master-info-file", "master-retry-count", "slave-ddl-exec-mode", "slave-run-triggers-for-rbr",
		"show-slave-auth-info", "sql-log-bin", "encrypt-binlog", "slave-parallel-threads", "replica-parallel-threads",
		"slave-parallel-workers", "replica-parallel-workers", "innodb-autoinc-lock-mode",
	).WithPrefixes("wsrep"),
	family.ReservedIdentity.With("server-uid"),
	family.ReservedFiles.With("getopt-prefix-matching", "log-slow-query-file", "language", "aria-log-dir-path", "bootstrap", "syslog"),
	family.ReservedLog.With("log-warnings", "silent-startup"),
	family.ReservedNetwork.WithPrefixes("extra-", "proxy-protocol-"),
	family.ReservedAccounts.With("old-passwords", "secure-auth", "max-password-errors", "unix-socket", "strict-password-validation"),
}
