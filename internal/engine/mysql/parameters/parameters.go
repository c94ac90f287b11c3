// Package parameters knows the settings of MySQL's servers that an experiment may not choose. It is pure: no SQL driver comes with it.
package parameters

import (
	_ "embed" // for the list of settings

	"replab.dev/api/v1alpha1/validation"
	family "replab.dev/internal/engine/family/parameters"
)

// Rules of MySQL's settings.
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
	return family.LogSize(parameters, "innodb_redo_log_capacity", DefaultLog)
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

// reservations have the old names of settings too, and MariaDB's where a server refuses to have both.
var reservations = family.Reservations{
	family.ReservedDurability.With("sync-source-info", "innodb-force-load-corrupted", "innodb-log-checksums", "binlog-error-action"),
	family.ReservedSemiSync,
	family.ReservedWriter.With("super-read-only", "offline-mode", "init-replica", "persisted-globals-load"),
	family.ReservedReplication.With("gtid-mode", "enforce-gtid-consistency", "clone-valid-donor-list", "performance-schema", "innodb-autoinc-lock-mode").
		WithPrefixes("group-replication", "wsrep", "pxc-"),
	family.ReservedIdentity.With("server-id-bits", "server-uuid"),
	family.ReservedFiles.With(
		"early-plugin-load", "innodb-doublewrite-dir", "innodb-directories", "innodb-temp-tablespaces-dir",
		"innodb-redo-log-archive-dirs", "daemonize", "initialize", "initialize-insecure", "upgrade", "validate-config", "percona-telemetry-disable",
	),
	family.ReservedLog,
	family.ReservedNetwork.With("create-admin-listener-thread", "extra-port").WithPrefixes("mysqlx", "admin-"),
	family.ReservedAccounts.With("authentication-policy", "mandatory-roles", "activate-all-roles-on-login", "partial-revokes", "log-raw"),
}
