// Package mysql is what a MySQL server is: its configuration, its accounts and its statements. It is MySQL 8.4 and later,
// Percona Server included; members of a group are Percona XtraDB Cluster's.
package mysql

import (
	"fmt"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/parameters"
)

// Server implements engine.Server, engine.Starter and engine.Local.
type Server struct{ parameters.Rules }

// Port is where a server listens for clients, unless it is given another one.
const Port = family.Port

// configFile is the name of the server's configuration file.
const configFile = "my.cnf"

// Port implements engine.Server.
func (Server) Port() int { return Port }

// Program implements engine.Server.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	socket := place.RunDir + "/mysqld.sock"
	return engine.Program{
		Argv: []string{"mysqld", "--defaults-file=" + place.ConfigDir + "/" + configFile}, Process: "mysqld", Socket: socket,
		ConfigFile: configFile, Config: config(place, socket, s),
	}
}

// config renders my.cnf. The server id is not in it, since it differs by node: the start wrapper passes it as an
// argument. Each node boots read-only and with its replication stopped: the director alone opens one or starts it.
//
// Sizes are for small nodes that share a machine; parameters come last and so win.
func config(place engine.Place, socket string, s engine.Settings) string {
	d := family.Durabilities[s.Durability]
	lines := []string{
		"[mysqld]",
		"datadir=" + place.DataDir,
		"socket=" + socket,
		"tmpdir=" + place.TmpDir,
		"pid-file=" + place.RunDir + "/mysqld.pid",
		fmt.Sprintf("port=%d", place.Port),
		"bind-address=*",
		"mysqlx=OFF",
		"skip-name-resolve=ON",
	}
	if s.Group == nil {
		lines = append(lines, replicationLines...)
	}
	lines = append(lines,
		"innodb-flush-log-at-trx-commit="+d.FlushAtCommit,
		"sync-binlog="+d.SyncBinlog,
		fmt.Sprintf("innodb-buffer-pool-size=%d", parameters.DefaultPool),
		fmt.Sprintf("innodb-redo-log-capacity=%d", parameters.DefaultLog),
		"innodb-log-buffer-size=8388608",
		"max-connections=500",
		"local-infile=ON",
		"secure-file-priv=NULL", // no file of the server is read or written by a statement
		"performance-schema-consumer-events-statements-history=OFF",
		"performance-schema-consumer-events-statements-current=OFF",
	)
	if s.Group == nil {
		lines = append(lines, "plugin-load-add=mysql_clone.so")
	} else {
		lines = append(lines, groupLines(*s.Group, place.RunDir)...)
	}
	lines = append(lines, semiSyncLines(s.SemiSync)...)
	lines = append(lines, family.ConfigLines(s.Parameters)...)
	return strings.Join(lines, "\n") + "\n"
}

// replicationLines are of servers that form no group.
var replicationLines = []string{
	"read-only=ON",
	"super-read-only=ON",
	"skip-replica-start=ON",
	"gtid-mode=ON",
	"enforce-gtid-consistency=ON",
	"log-bin=binlog",
	"relay-log=relay",
	"relay-log-recovery=ON",
	"log-error-verbosity=2",
}

// semiSyncLines load both sides on every node; the director enables the source side of the primary alone.
func semiSyncLines(s *engine.SemiSync) []string {
	if s == nil {
		return nil
	}
	return []string{
		"plugin-load-add=semisync_source.so",
		"plugin-load-add=semisync_replica.so",
		"loose-rpl-semi-sync-replica-enabled=ON",
		"loose-rpl-semi-sync-source-enabled=OFF",
		fmt.Sprintf("loose-rpl-semi-sync-source-timeout=%d", s.TimeoutMilliseconds),
		fmt.Sprintf("loose-rpl-semi-sync-source-wait-for-replica-count=%d", s.AckReplicas),
		"loose-rpl-semi-sync-source-wait-point=" + family.WaitPoint(*s),
	}
}
