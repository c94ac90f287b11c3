// Package mariadb is what a MariaDB server is: its configuration, its accounts and its statements. It is MariaDB 10.11 and later.
package mariadb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
	"replab.dev/internal/engine/mariadb/parameters"
	"replab.dev/internal/wire"
)

// Server implements engine.Server, engine.Starter and engine.Local.
type Server struct{ parameters.Rules }

// Port implements engine.Server.
func (Server) Port() int { return family.Port }

// Program implements engine.Server.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	p := dialect.Program(place, s)
	p.CopyPort = copyPort(place.Port)
	return p
}

// Expected implements engine.Server.
func (Server) Expected(s engine.Settings) []wire.Setting { return dialect.Expected(s) }

// dialect of the server. Transactions are numbered without gaps within a domain, and the same on every node: gtid-strict-mode and
// log-slave-updates see to that. engine.Position rests on it.
var dialect = family.Dialect{
	Server: "mariadbd", ConfigFile: "mariadb.cnf",
	Lines: family.ConfigLists{
		First: []string{"getopt-prefix-matching=OFF"}, // the beginning of a reserved setting's name would be that setting
		Replicating: []string{
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
		},
		Sizes: []string{
			fmt.Sprintf("innodb-buffer-pool-size=%d", parameters.DefaultPool),
			fmt.Sprintf("innodb-log-file-size=%d", parameters.DefaultLog),
		},
		SemiSync: semiSyncLines, Group: groupLines, Pair: pairLines,
	},
	Settings: family.ExpectedLists{
		Replicating: []wire.Setting{
			{Name: "gtid_domain_id", Value: "0"},
			{Name: "gtid_strict_mode", Value: "ON"},
			{Name: "log_bin", Value: "ON"},
			{Name: "log_slave_updates", Value: "ON"},
			{Name: "slave_exec_mode", Value: "STRICT"},
			{Name: "slave_parallel_threads", Value: "0"},
			{Name: "slave_skip_errors", Value: "OFF"},
		},
		SemiSync: semiSyncExpected, Group: groupExpected, Pair: pairExpected,
	},
	Acts: family.Acts{
		Open: "SET GLOBAL read_only = OFF", Shut: "SET GLOBAL read_only = ON",
		SourceOn: "SET GLOBAL rpl_semi_sync_master_enabled = ON", SourceOff: "SET GLOBAL rpl_semi_sync_master_enabled = OFF",
		ReplicaOn: "SET GLOBAL rpl_semi_sync_slave_enabled = ON",
		// The end of the binary log, which has everything that the server executed, be it as a replica or as a primary.
		Position: "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos",
		Source: `CHANGE MASTER TO MASTER_HOST = ?, MASTER_PORT = ?, MASTER_USER = ?, MASTER_PASSWORD = ?, MASTER_USE_GTID = slave_pos,
 MASTER_SSL = 0, MASTER_CONNECT_RETRY = 1, MASTER_HEARTBEAT_PERIOD = 1`,
		Wait: "SELECT MASTER_GTID_WAIT(?, ?)",
		At: func(position string) (string, error) {
			state, err := gtid.Parse(position)
			return state.Position(), err
		},
	},
	Lag: family.LagWords{
		Identity: "@@server_id", Membership: "SELECT @@GLOBAL.wsrep_on, @@GLOBAL.wsrep_node_name", LongestAnswer: family.NameWait,
	},
	Reader: family.ReaderWords{NoTimeLimit: "SET SESSION max_statement_time = 0", Executed: "SELECT @@GLOBAL.gtid_binlog_state"},
}

// semiSyncLines make every node a replica that acknowledges. The director enables the master's side on the primary alone: on a replica the
// applying thread would wait in vain. A commit waits for exactly one replica, also while none is connected, as in MySQL.
func semiSyncLines(s engine.SemiSync) []string {
	return []string{
		"rpl-semi-sync-slave-enabled=ON",
		"rpl-semi-sync-master-enabled=OFF",
		fmt.Sprintf("rpl-semi-sync-master-timeout=%d", s.TimeoutMilliseconds),
		"rpl-semi-sync-master-wait-no-slave=ON",
		"rpl-semi-sync-master-wait-point=" + family.WaitPoint(s),
	}
}

func semiSyncExpected(s engine.SemiSync) []wire.Setting {
	return []wire.Setting{
		{Name: "rpl_semi_sync_slave_enabled", Value: "ON"},
		{Name: "rpl_semi_sync_master_timeout", Value: strconv.FormatInt(s.TimeoutMilliseconds, 10)},
		{Name: "rpl_semi_sync_master_wait_no_slave", Value: "ON"},
		{Name: "rpl_semi_sync_master_wait_point", Value: family.WaitPoint(s)},
	}
}

// domains is how many domains a server of a pair has: its clients', and after it the lag probe's.
const domains = 2

// pairLines are of servers that replicate from each other. Each numbers its transactions in a domain of its own: see Start.
func pairLines(p engine.Pair) []string {
	return []string{"log-slave-updates=" + family.OnOff(p.LogReplicaUpdates)}
}

func pairExpected(p engine.Pair) []wire.Setting {
	return []wire.Setting{{Name: "gtid_domain_id"}, {Name: "log_slave_updates", Value: family.OnOff(p.LogReplicaUpdates)}}
}

// firstStatements admit replab's accounts alone. Grants are loaded first: the server reads none while it makes its data directory. Only the
// administrator (director and agent) has READ ONLY ADMIN, which allows writes on a read-only server; it writes no rows.
var firstStatements = family.FirstStatements{
	Before: []string{
		"DELETE FROM mysql.global_priv WHERE User IN ('', 'root');",
		"FLUSH LOCAL PRIVILEGES;",
	},
	Grants: []family.Grant{
		// BINLOG REPLAY: the lag probe gives its writes a domain of their own, so that it can wait for the next one elsewhere.
		{Account: wire.AccountProbe, Rights: "BINLOG MONITOR, REPLICA MONITOR, BINLOG REPLAY ON *.*"},
	},
}

// serverIDBase keeps the ids of servers without an identity above 0, which would turn replication off.
const serverIDBase = 100

// Initialization implements engine.Starter, by the script that every package and image of the server has. It hands what it does
// not know itself on to the server.
func (Server) Initialization(argv []string, dataDir, scriptFile string, password func(string) (string, error)) (engine.Initialization, error) {
	script, err := firstStatements.Script(password)
	arguments := argv[max(0, slices.IndexFunc(argv, func(a string) bool { return strings.HasPrefix(a, "--defaults-file=") })):]
	return engine.Initialization{
		Argv: slices.Concat([]string{"mariadb-install-db"}, arguments, []string{
			"--datadir=" + dataDir, "--auth-root-authentication-method=normal", "--skip-test-db", "--force",
			"--extra-file=" + scriptFile, "--skip-log-bin", "--read-only=OFF", "--wsrep-on=OFF",
		}),
		Script: script,
	}, err
}

// Start implements engine.Starter. The server's id is the identity of its data: a server whose data were replaced never makes a
// transaction under a name that another transaction has.
func (Server) Start(argv []string, n engine.StartParams) engine.Start {
	id := cmp.Or(int64(n.Identity), int64(serverIDBase+n.Ordinal))
	argv = append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", id))
	if n.Pair {
		argv = append(append(argv, family.PairArguments(n.Ordinal)...), fmt.Sprintf("--gtid-domain-id=%d", domains*n.Ordinal))
	}
	return engine.Start{
		Argv:   argv,
		Remove: []string{n.Socket},
	}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(int) bool { return false }

// IsServer implements engine.Local.
func (Server) IsServer(argv, process []string) bool {
	return family.Started(argv, process, "--bootstrap", "--wsrep-recover", noProvider)
}
