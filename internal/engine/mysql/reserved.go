package mysql

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
	return family.LogSize(parameters, "innodb_redo_log_capacity", defaultLog)
}

// RefuseParameters implements engine.Server.
func (Server) RefuseParameters(parameters map[string]string) []string {
	return reservations.Refuse(parameters)
}

// Reserved are all settings that are refused by name. What the API refuses is held against it.
func (Server) Reserved() family.Reservations { return reservations }

// reservations have the old names of settings too, and MariaDB's where a server that is told both would mind.
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
