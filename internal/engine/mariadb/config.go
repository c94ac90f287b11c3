// Package mariadb is what a MariaDB server is: its configuration, its accounts and its statements. It is MariaDB 10.11 and later.
package mariadb

import (
	"fmt"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/parameters"
)

// Server implements engine.Server, engine.Starter and engine.Local.
type Server struct{ parameters.Rules }

// configFile is the name of the server's configuration file.
const configFile = "mariadb.cnf"

// Port implements engine.Server.
func (Server) Port() int { return family.Port }

// Program implements engine.Server.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	socket := place.RunDir + "/mariadbd.sock"
	return engine.Program{
		Argv: []string{"mariadbd", "--defaults-file=" + place.ConfigDir + "/" + configFile}, Process: "mariadbd", Socket: socket,
		ConfigFile: configFile, Config: config(place, socket, s), CopyPort: copyPort(place.Port),
	}
}

// config renders the configuration file. The server id is not in it, since it differs by node: the start wrapper passes it as an
// argument. Each node boots read-only and with its replication stopped: the director alone opens one or starts it.
//
// Transactions are numbered without gaps within a domain, and the same on every node: gtid-strict-mode and log-slave-updates
// see to that. engine.Position rests on it.
//
// Sizes are for small nodes that share a machine; parameters come last and so win.
func config(place engine.Place, socket string, s engine.Settings) string {
	d := family.Durabilities[s.Durability]
	lines := []string{
		"[mariadbd]",
		"getopt-prefix-matching=OFF", // the beginning of a reserved setting's name would be that setting
		"datadir=" + place.DataDir,
		"socket=" + socket,
		"tmpdir=" + place.TmpDir,
		"pid-file=" + place.RunDir + "/mariadbd.pid",
		fmt.Sprintf("port=%d", place.Port),
		"skip-name-resolve=ON",
	}
	if s.Group == nil {
		lines = append(lines, replicationLines...)
	}
	lines = append(lines,
		"innodb-flush-log-at-trx-commit="+d.FlushAtCommit,
		"sync-binlog="+d.SyncBinlog,
		fmt.Sprintf("innodb-buffer-pool-size=%d", parameters.DefaultPool),
		fmt.Sprintf("innodb-log-file-size=%d", parameters.DefaultLog),
		"innodb-log-buffer-size=8388608",
		"max-connections=500",
		"local-infile=ON",
	)
	if s.Group != nil {
		lines = append(lines, groupLines(*s.Group, place.RunDir)...)
	}
	lines = append(lines, semiSyncLines(s.SemiSync)...)
	return strings.Join(append(lines, family.ConfigLines(s.Parameters)...), "\n") + "\n"
}

// replicationLines are of servers that form no group.
var replicationLines = []string{
	"read-only=ON",
	"skip-slave-start=ON",
	"gtid-strict-mode=ON",
	"gtid-domain-id=0",
	"log-bin=binlog",
	"log-slave-updates=ON",
	"binlog-format=ROW",
	"relay-log=relay",
	"relay-log-recovery=ON",
	"slave-parallel-threads=0",
	"master-retry-count=1000000", // a replica reconnects for as long as the experiment lasts
}

// semiSyncLines make every node a replica that acknowledges. The director enables the master's side on the primary alone: on a
// replica the applying thread would wait for acknowledgements that nobody gives. A commit always waits for one replica: the
// server knows no other number. It waits also while none is connected, as it does in MySQL.
func semiSyncLines(s *engine.SemiSync) []string {
	if s == nil {
		return nil
	}
	return []string{
		"rpl-semi-sync-slave-enabled=ON",
		"rpl-semi-sync-master-enabled=OFF",
		fmt.Sprintf("rpl-semi-sync-master-timeout=%d", s.TimeoutMilliseconds),
		"rpl-semi-sync-master-wait-no-slave=ON",
		"rpl-semi-sync-master-wait-point=" + family.WaitPoint(*s),
	}
}
