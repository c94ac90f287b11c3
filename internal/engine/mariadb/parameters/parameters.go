// Package parameters knows the settings of MariaDB's servers that an experiment may not choose. It is pure: no SQL driver comes with it.
package parameters

import (
	_ "embed" // for the list of settings

	"replab.dev/api/v1alpha1/validation"
	family "replab.dev/internal/engine/family/parameters"
)

// Rules of MariaDB's settings.
type Rules struct{}

// Default sizes in bytes.
const (
	DefaultPool = 128 << 20 // of the buffer pool
	DefaultLog  = 256 << 20 // of the redo log
)

// Memory implements validation.Server.
func (Rules) Memory(parameters map[string]string) validation.Need {
	return family.Memory(parameters, DefaultPool)
}

// LogSize implements validation.Server.
func (Rules) LogSize(parameters map[string]string) validation.Need {
	return family.LogSize(parameters, "innodb_log_file_size", DefaultLog)
}

// RefuseParameters implements validation.Server.
func (Rules) RefuseParameters(parameters map[string]string) []validation.Refusal {
	return reservations.Refuse(parameters, settings)
}

// Knows implements validation.Server.
func (Rules) Knows(name string) bool { return settings.Knows(name) }

//go:embed settings.txt
var list string

var settings = family.ParseSettings(list)

// Reserved are all settings that are refused by name. What the API refuses is held against it.
func (Rules) Reserved() family.Reservations { return reservations }

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
