// Package mysql is what a MySQL server is: its configuration, its accounts and its statements. It is MySQL 8.4 and later,
// Percona Server included; members of a group are Percona XtraDB Cluster's.
package mysql

import (
	"fmt"
	"slices"
	"strconv"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/parameters"
	"replab.dev/internal/wire"
)

// Server implements engine.Server, engine.Starter and engine.Local.
type Server struct{ parameters.Rules }

// Port is where a server listens for clients, unless it is given another one.
const Port = family.Port

// Port implements engine.Server.
func (Server) Port() int { return Port }

// Program implements engine.Server.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	return dialect.Program(place, s)
}

// Expected implements engine.Server.
func (Server) Expected(s engine.Settings) []wire.Setting { return dialect.Expected(s) }

var dialect = family.Dialect{
	Server: "mysqld", ConfigFile: "my.cnf",
	Lines: family.ConfigLists{
		Network: []string{"bind-address=*", "mysqlx=OFF"},
		Replicating: []string{
			"read-only=ON",
			"super-read-only=ON",
			"skip-replica-start=ON",
			"gtid-mode=ON",
			"enforce-gtid-consistency=ON",
			"log-bin=binlog",
			"relay-log=relay",
			"relay-log-recovery=ON",
			"log-error-verbosity=2",
		},
		Sizes: []string{
			fmt.Sprintf("innodb-buffer-pool-size=%d", parameters.DefaultPool),
			fmt.Sprintf("innodb-redo-log-capacity=%d", parameters.DefaultLog),
		},
		More: []string{
			"secure-file-priv=NULL", // no file of the server is read or written by a statement
			"performance-schema-consumer-events-statements-history=OFF",
			"performance-schema-consumer-events-statements-current=OFF",
		},
		NoGroup: []string{"plugin-load-add=mysql_clone.so"}, SemiSync: semiSyncLines, Group: groupLines, Pair: pairLines,
	},
	Settings: family.ExpectedLists{
		Replicating: []wire.Setting{
			{Name: "enforce_gtid_consistency", Value: "ON"},
			{Name: "gtid_mode", Value: "ON"},
			{Name: "log_bin", Value: "ON"},
			{Name: "log_replica_updates", Value: "ON"},
			{Name: "relay_log_recovery", Value: "ON"},
			{Name: "replica_exec_mode", Value: "STRICT"},
			{Name: "replica_skip_errors", Value: "OFF"},
		},
		SemiSync: semiSyncExpected, Group: groupExpected, MembersLog: true, Pair: pairExpected,
	},
	Acts: family.Acts{
		Open: "SET GLOBAL read_only = OFF", // super_read_only with it
		Shut: "SET GLOBAL super_read_only = ON",

		SourceOn: "SET GLOBAL rpl_semi_sync_source_enabled = ON", SourceOff: "SET GLOBAL rpl_semi_sync_source_enabled = OFF",
		ReplicaOn: "SET GLOBAL rpl_semi_sync_replica_enabled = ON",
		Source: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
 SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000000, SOURCE_HEARTBEAT_PERIOD = 1`,
		Wait: "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)", At: func(position string) (string, error) { return position, nil },
	},
	Lag: family.LagWords{
		Identity:   "@@server_uuid",
		Membership: "SELECT " + isMember + `, (SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_node_name')`,
	},
	Reader: family.ReaderWords{
		NoTimeLimit: "SET SESSION max_execution_time = 0", Index: "/*+ INDEX(%s %s) */", Executed: "SELECT @@GLOBAL.gtid_executed",
	},
}

// semiSyncLines load both sides on every node; the director enables the source side of the primary alone.
func semiSyncLines(s engine.SemiSync) []string {
	return []string{
		"plugin-load-add=semisync_source.so",
		"plugin-load-add=semisync_replica.so",
		"loose-rpl-semi-sync-replica-enabled=ON",
		"loose-rpl-semi-sync-source-enabled=OFF",
		fmt.Sprintf("loose-rpl-semi-sync-source-timeout=%d", s.TimeoutMilliseconds),
		fmt.Sprintf("loose-rpl-semi-sync-source-wait-for-replica-count=%d", s.AckReplicas),
		"loose-rpl-semi-sync-source-wait-point=" + family.WaitPoint(s),
	}
}

func semiSyncExpected(s engine.SemiSync) []wire.Setting {
	return []wire.Setting{
		{Name: "rpl_semi_sync_source_timeout", Value: strconv.FormatInt(s.TimeoutMilliseconds, 10)},
		{Name: "rpl_semi_sync_source_wait_for_replica_count", Value: strconv.Itoa(s.AckReplicas)},
		{Name: "rpl_semi_sync_source_wait_point", Value: family.WaitPoint(s)},
	}
}

// pairLines are of servers that replicate from each other. By its name of a transaction each knows those that it made itself.
func pairLines(p engine.Pair) []string {
	if p.LogReplicaUpdates {
		return nil
	}
	return []string{"log-replica-updates=OFF"}
}

func pairExpected(p engine.Pair) []wire.Setting {
	return []wire.Setting{{Name: "log_replica_updates", Value: family.OnOff(p.LogReplicaUpdates)}}
}

// firstStatements lock the account that the server makes itself.
var firstStatements = family.FirstStatements{
	Grants: []family.Grant{
		{Account: wire.AccountReplication, Rights: "BACKUP_ADMIN ON *.*"},
		// SESSION_VARIABLES_ADMIN: the lag probe names the GTID of its writes, so that it can wait for it elsewhere.
		{Account: wire.AccountProbe, Rights: "REPLICATION CLIENT, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER ON *.*"},
		{Account: wire.AccountProbe, Rights: "SELECT ON performance_schema.*"},
	},
	After: []string{"ALTER USER 'root'@'localhost' ACCOUNT LOCK;"},
}

// serverIDBase keeps server ids above 0, which would turn replication off.
const serverIDBase = 100

// restartExitCode is mysqld's exit code after the statement RESTART and at the end of a clone, when a supervisor is
// there to start it again.
const restartExitCode = 16

// Initialization implements engine.Starter. Loose options are for servers that know them: no statement of the script is for a group.
func (Server) Initialization(argv []string, dataDir, scriptFile string, password func(string) (string, error)) (engine.Initialization, error) {
	script, err := firstStatements.Script(password)
	return engine.Initialization{
		Argv: append(slices.Clone(argv), "--datadir="+dataDir, "--initialize-insecure", "--init-file="+scriptFile,
			"--read-only=OFF", "--super-read-only=OFF", "--loose-wsrep-provider=none"),
		Script: script,
	}, err
}

// Start implements engine.Starter. Without MYSQLD_PARENT_PID the server refuses RESTART. A socket's lock file goes: in a new pod the old server's
// pid may be another process's, and mysqld refuses a lock of a living process.
func (Server) Start(argv []string, n engine.StartParams) engine.Start {
	argv = append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", serverIDBase+n.Ordinal))
	if n.Pair {
		argv = append(argv, family.PairArguments(n.Ordinal)...)
	}
	return engine.Start{
		Argv:   argv,
		Env:    []string{fmt.Sprintf("MYSQLD_PARENT_PID=%d", n.WrapperPID)},
		Remove: []string{n.Socket, n.Socket + ".lock"},
	}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(exitCode int) bool { return exitCode == restartExitCode }

// IsServer implements engine.Local.
func (Server) IsServer(argv, process []string) bool {
	return family.Started(argv, process, append([]string{"--initialize", "--wsrep-recover"}, noProvider...)...)
}
