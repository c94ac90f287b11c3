package mysql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// provider is where the image of Percona XtraDB Cluster has the library.
const provider = "/usr/lib64/galera4/libgalera_smm.so"

// groupLines make servers of Percona XtraDB Cluster members of a group, set as MariaDB's members are: no strict mode, no encryption among them.
// The binary log stays on, since a killed member needs it to decide about prepared transactions (ha_commit_trans, sql/handler.cc of 8.4).
// GTIDs are off: after a crash the log may name transactions whose rows are lost, and those must be applied again.
func groupLines(g engine.Group, runDir string) []string {
	return []string{
		"skip-replica-start=ON",
		"gtid-mode=OFF",
		"log-bin=binlog",
		"log-replica-updates=ON",
		"binlog-format=ROW",
		"log-error-verbosity=3", // transfers are logged as notes
		"innodb-autoinc-lock-mode=2",
		"wsrep-provider=" + provider,
		"wsrep-cluster-name=" + g.Name,
		"wsrep-sst-method=xtrabackup-v2",
		"wsrep-applier-threads=2",
		"wsrep-retry-autocommit=0",
		fmt.Sprintf("wsrep-sync-wait=%d", g.SyncWait),
		"pxc-strict-mode=DISABLED",
		"pxc-encrypt-cluster-traffic=OFF",
		"pxc-maint-transition-period=0",
		"loose-percona-telemetry-disable=ON",
		"wsrep-provider-options=" + family.ProviderOptions(g),
		"!include " + runDir + "/" + family.MemberFile,
		"[mysqld]", // for what follows the file
	}
}

// groupExpected are the settings that members report. wsrep_on is not among them: only sessions have it.
func groupExpected(g engine.Group) []wire.Setting {
	return append([]wire.Setting{
		{Name: "gtid_mode", Value: "OFF"},
		{Name: "innodb_autoinc_lock_mode", Value: "2"},
		{Name: "log_bin", Value: "ON"},
		{Name: "log_replica_updates", Value: "ON"},
		{Name: "pxc_strict_mode", Value: "DISABLED"},
		{Name: "pxc_encrypt_cluster_traffic", Value: "OFF"},
		{Name: "pxc_maint_transition_period", AnyValue: true, MayLack: true},
		{Name: "wsrep_provider", Value: provider},
		{Name: "wsrep_cluster_name", Value: g.Name},
		{Name: "wsrep_retry_autocommit", Value: "0"},
		{Name: "wsrep_sync_wait", Value: strconv.Itoa(int(g.SyncWait))},
	}, family.ProviderExpected(g)...)
}

// Private implements engine.Grouped. There is no secret in it: a donor makes an account for each transfer, with a password of its own.
func (Server) Private(m engine.MemberParams) (engine.PrivateFile, error) {
	lines := append([]string{"[mysqld]"}, family.MemberLines(m)...)
	return engine.PrivateFile{Name: family.MemberFile, Content: strings.Join(lines, "\n") + "\n"}, nil
}

// Recovery implements engine.Grouped. The server decides about transactions that are prepared by its binary log, and the position moves on
// with those that it commits, so a server that runs alone finds no prepared ones. Verbosity 3 logs the position.
func (Server) Recovery(argv []string) engine.Recovery {
	r := family.Recovery(append(slices.Clone(argv), "--log-error-verbosity=3"))
	r.Note, r.Position = family.StateNote, position
	return r
}

// notClosed is how the storage engine says that its data were not closed in order.
const notClosed = "Database was not shutdown normally"

// position is the one that the data have a mark of, or, where they were closed in order, the one that the library noted then: a server that
// ended so was seen by others to have come further than the mark. The note of one that was killed may be of a moment before.
func position(output, note string) (wire.GroupPosition, error) {
	found, err := family.RecoveredPosition(output)
	if err != nil || strings.Contains(output, notClosed) {
		return found, err
	}
	if noted := family.NotedPosition(note); found.History != "" && noted.History == found.History && noted.Sequence > found.Sequence {
		return noted, nil
	}
	return found, nil
}

// Enter implements engine.Grouped.
func (s Server) Enter(argv []string, n engine.StartParams, e engine.Entry) engine.Start {
	return family.Enter(s.Start(argv, n), e)
}

var transferBegins = regexp.MustCompile(`Initiating SST/IST transfer on JOINER side \(wsrep_sst_[a-z0-9_-]+ --role 'joiner'`)

// ReadTransfer implements engine.Grouped. Until its storage engine runs, which is after a transfer of all data, a server keeps most of
// its messages to itself (log_sink_buffer in sql/server_component/log_builtins.cc): what counts is the time that each one bears.
func (Server) ReadTransfer(line string) (engine.TransferNote, bool) {
	stamp, message, _ := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return engine.TransferNote{}, false
	}
	note, ok := family.ReadTransfer(message, transferBegins)
	if ok {
		note.At = at
	}
	return note, ok
}

// noProvider has a server run without the library, and tells it from the node's own. So does the image's transfer program with the server
// that it runs on the data that it has received.
var noProvider = []string{"--wsrep-provider=none", "--wsrep_provider=none"}

// Alone implements engine.Alone. What it would change by itself is off; an inspection writes nothing. Its binary log stays on: without
// it the server would not start on data that hold prepared transactions.
func (s Server) Alone(argv []string, n engine.StartParams) engine.Start {
	start := s.Start(argv, n)
	start.Argv = append(start.Argv, "--socket="+n.Socket, noProvider[0], "--skip-networking", "--read-only=ON", "--super-read-only=ON",
		"--event-scheduler=OFF")
	return start
}
