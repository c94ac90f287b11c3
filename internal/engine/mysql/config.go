// Package mysql is what a MySQL server is: its configuration, its accounts and its statements.
package mysql

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ServerParams decide a server's configuration file. Paths are inside the server's container.
type ServerParams struct {
	DataDir    string
	Socket     string
	TmpDir     string
	PidFile    string
	Port       int
	SemiSync   *SemiSyncParams // nil for asynchronous replication
	Relaxed    bool            // durability: flushed once a second instead of at every commit
	Parameters map[string]string
}

// SemiSyncParams are the plugin's settings. Every node loads both sides; the director enables the source side of the
// primary alone.
type SemiSyncParams struct {
	AckReplicas         int
	TimeoutMilliseconds int64
	WaitPoint           string // AFTER_SYNC or AFTER_COMMIT
}

// ServerConfig renders my.cnf. The server id is not in it, since it differs by node: the start wrapper passes it as an
// argument. Each node boots read-only and with its replication stopped: the director alone opens one or starts it.
//
// Sizes are for small nodes that share a machine; Parameters come last and so win.
func ServerConfig(p ServerParams) string {
	flush := "1"
	if p.Relaxed {
		flush = "2"
	}
	lines := []string{
		"[mysqld]",
		"datadir=" + p.DataDir,
		"socket=" + p.Socket,
		"tmpdir=" + p.TmpDir,
		"pid-file=" + p.PidFile,
		fmt.Sprintf("port=%d", p.Port),
		"bind-address=*",
		"mysqlx=OFF",
		"skip-name-resolve=ON",
		"read-only=ON",
		"super-read-only=ON",
		"skip-replica-start=ON",
		"gtid-mode=ON",
		"enforce-gtid-consistency=ON",
		"log-bin=binlog",
		"relay-log=relay",
		"relay-log-recovery=ON",
		"log-error-verbosity=2",
		"innodb-flush-log-at-trx-commit=" + flush,
		"sync-binlog=" + map[bool]string{false: "1", true: "0"}[p.Relaxed],
		"innodb-buffer-pool-size=134217728",
		"innodb-redo-log-capacity=268435456",
		"innodb-log-buffer-size=8388608",
		"max-connections=500",
		"local-infile=ON",
		"secure-file-priv=NULL", // no file of the server is read or written by a statement
		"performance-schema-consumer-events-statements-history=OFF",
		"performance-schema-consumer-events-statements-current=OFF",
		"plugin-load-add=mysql_clone.so",
	}
	lines = append(lines, semiSyncLines(p.SemiSync)...)
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		lines = append(lines, name+"="+p.Parameters[name])
	}
	return strings.Join(lines, "\n") + "\n"
}

func semiSyncLines(s *SemiSyncParams) []string {
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
		"loose-rpl-semi-sync-source-wait-point=" + s.WaitPoint,
	}
}
