// Package mysqltest starts real MySQL servers for tests: see familytest.
package mysqltest

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/wire"
	"replab.dev/test/unit"
)

// Password of every account of a test server.
const Password = familytest.Password

// Server is a running mysqld that ends with its test.
type Server = familytest.Server

// Option changes the configuration of a server.
type Option = familytest.Option

// Flavor is MySQL as tests run it.
var Flavor = familytest.Flavor{
	Engine:        "MySQL",
	Roles:         mysql.Server{},
	OpenAdmin:     mysql.OpenAdmin,
	NewStore:      mysql.NewStore,
	NewLoader:     mysql.NewLoader,
	NewCounters:   mysql.NewCounters,
	Binary:        binary,
	Parameters:    small,
	OpenSQL:       "SET GLOBAL super_read_only=OFF; SET GLOBAL read_only=OFF",
	CloseSQL:      "SET GLOBAL super_read_only=ON",
	ClosedSQL:     "SELECT @@GLOBAL.super_read_only",
	AwaitSQL:      "SET GLOBAL rpl_semi_sync_source_enabled=ON",
	AwaitsSQL:     "SELECT @@GLOBAL.rpl_semi_sync_source_enabled",
	ReceiverSQL:   "SELECT service_state FROM performance_schema.replication_connection_status",
	CopiesItself:  true,
	ClosedToAdmin: true,
	SourceSQL:     "SELECT COUNT(*) FROM performance_schema.replication_connection_configuration",
	ReplicateSQL:  replicate,
	ExecutedSQL:   "SELECT @@GLOBAL.gtid_executed",
	CatchUpSQL:    "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 50)",
	SubtractSQL:   "SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed)",
	LockWaitSQL:   "SELECT COUNT(*) FROM performance_schema.data_lock_waits",
	DelaySQL:      "CHANGE REPLICATION SOURCE TO SOURCE_DELAY=1",
	MeasuresLag:   true,

	FlushTogether: []Option{Parameter("binlog_group_commit_sync_delay", "5000")},
}

// small makes a server take a third less of processor and half as much memory to start.
var small = map[string]string{
	"innodb-redo-log-capacity": "33554432", "innodb-buffer-pool-size": "67108864", "innodb-log-buffer-size": "1048576",
	"innodb-buffer-pool-load-at-startup": "OFF", "innodb-log-writer-threads": "OFF", "table-open-cache": "200", "table-definition-cache": "400",
	"performance-schema-error-size": "0", "performance-schema-digests-size": "1000",
}

// SemiSync loads the semi-sync plugins.
func SemiSync(ackReplicas int, timeout time.Duration) Option {
	return familytest.SemiSync(ackReplicas, timeout)
}

// Parameter sets a server variable.
func Parameter(name, value string) Option { return familytest.Parameter(name, value) }

// Start makes and starts a server and waits until it answers.
func Start(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	return Flavor.Start(t, name, opts...)
}

// Prepare writes the configuration of a server and neither makes its data directory nor starts it.
func Prepare(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	return Flavor.Prepare(t, name, opts...)
}

func replicate(port int) string {
	return fmt.Sprintf(`CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=%d, SOURCE_USER='%s',
SOURCE_PASSWORD='%s', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1; START REPLICA`,
		port, wire.AccountReplication, Password)
}

// binary runs the server of REPLAB_MYSQL_ROOTFS, else that of .local/rootfs/mysql, else that of PATH.
func binary(t testing.TB) (argv, arguments []string) {
	t.Helper()
	unit.Leave(t)
	if root := familytest.Rootfs("REPLAB_MYSQL_ROOTFS", "mysql"); root != "" {
		return familytest.Linked(root, "usr/sbin/mysqld"), []string{
			"--basedir=" + root + "/usr", "--plugin-dir=" + root + "/usr/lib/mysql/plugin",
			"--lc-messages-dir=" + root + "/usr/share/mysql", "--character-sets-dir=" + root + "/usr/share/mysql/charsets",
		}
	}
	if path, err := exec.LookPath("mysqld"); err == nil {
		return []string{path}, nil
	}
	familytest.Missing(t, "no MySQL server here: run `make local-rootfs`, or install mysqld")
	return nil, nil
}
