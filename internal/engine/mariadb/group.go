package mariadb

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
)

// groupServerID is the server id of every member: they name transactions alike, and a wait for one by its name works on each only then.
const groupServerID = 100

// groupLines make servers members of a group; every member boots open. The group has the order of all transactions, so no binary log is
// kept. An autocommit statement that fails for a conflict is not done again.
func groupLines(g engine.Group, runDir string) []string {
	return []string{
		"skip-log-bin",
		"binlog-format=ROW",
		"innodb-autoinc-lock-mode=2",
		"wsrep-on=ON",
		"wsrep-provider=/usr/lib/galera/libgalera_smm.so",
		"wsrep-cluster-name=" + g.Name,
		"wsrep-sst-method=mariabackup",
		"wsrep-slave-threads=2",
		"wsrep-retry-autocommit=0",
		"wsrep-certify-nonPK=ON",
		fmt.Sprintf("wsrep-sync-wait=%d", g.SyncWait),
		"wsrep-gtid-mode=ON",
		"wsrep-gtid-domain-id=0",
		"gtid-domain-id=1",
		"plugin-load-add=wsrep_info.so",
		"wsrep-provider-options=" + family.ProviderOptions(g),
		"!include " + runDir + "/" + family.MemberFile,
		"[mariadbd]", // for what follows the file
	}
}

// groupExpected are the settings that members report.
func groupExpected(g engine.Group) []wire.Setting {
	return append([]wire.Setting{
		{Name: "log_bin", Value: "OFF"},
		{Name: "wsrep_on", Value: "ON"},
		{Name: "wsrep_cluster_name", Value: g.Name},
		{Name: "wsrep_sync_wait", Value: strconv.Itoa(int(g.SyncWait))},
		{Name: "wsrep_retry_autocommit", Value: "0"},
		{Name: "wsrep_certify_nonpk", Value: "ON"},
		{Name: "wsrep_gtid_mode", Value: "ON"},
		{Name: "wsrep_gtid_domain_id", Value: "0"},
		{Name: "server_id", Value: strconv.Itoa(groupServerID)},
		{Name: "innodb_autoinc_lock_mode", Value: "2"},
	}, family.ProviderExpected(g)...)
}

// Private implements engine.Grouped.
func (Server) Private(m engine.MemberParams) (engine.PrivateFile, error) {
	password, err := m.Password(wire.AccountAdmin)
	if err != nil {
		return engine.PrivateFile{}, err
	}
	lines := append([]string{"[mariadbd]", "wsrep-sst-auth=" + wire.AccountAdmin + ":" + password}, family.MemberLines(m)...)
	return engine.PrivateFile{Name: family.MemberFile, Content: strings.Join(lines, "\n") + "\n"}, nil
}

// asMember is how a server of a group is started, whatever for.
func asMember(argv []string) []string {
	return append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", groupServerID))
}

// Recovery implements engine.Grouped.
func (Server) Recovery(argv []string) engine.Recovery { return family.Recovery(asMember(argv)) }

// Enter implements engine.Grouped.
func (Server) Enter(argv []string, n engine.StartParams, e engine.Entry) engine.Start {
	return family.Enter(engine.Start{Argv: asMember(argv), Remove: []string{n.Socket}}, e)
}

var transferBegins = regexp.MustCompile(`WSREP: Running: 'wsrep_sst_[a-z_]+ --role 'joiner'`)

// ReadTransfer implements engine.Grouped.
func (Server) ReadTransfer(line string) (engine.TransferNote, bool) {
	return family.ReadTransfer(line, transferBegins)
}

// Alone implements engine.Alone. What it would change by itself is off; an inspection writes nothing.
func (Server) Alone(argv []string, n engine.StartParams) engine.Start {
	return engine.Start{
		Argv: append(asMember(argv), "--socket="+n.Socket, "--wsrep-on=OFF", noProvider,
			"--skip-networking", "--read-only=ON", "--event-scheduler=OFF", "--skip-slave-start"),
		Remove: []string{n.Socket},
	}
}

// noProvider tells a server that runs alone from the node's own.
const noProvider = "--wsrep-provider=none"
