package mariadb

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// groupServerID is the server id of every member: they name transactions alike, and a wait for one by its name works on each only then.
const groupServerID = 100

// privateFile holds what a member's configuration has of its own.
const privateFile = "member.cnf"

// nowhere is an address at which no member can be: without any address a server would begin a group of its own.
const nowhere = "127.0.0.1:1"

// groupLines make servers members of a group; every member boots open. The group has the order of all transactions, so no binary log is
// kept. pc.recovery off: the library never makes members primary by itself after all servers died. An autocommit statement that
// fails for a conflict is not done again.
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
		"wsrep-provider-options=" + providerOptions(g),
		"!include " + runDir + "/" + privateFile,
		"[mariadbd]", // for what follows the file
	}
}

// providerOptions are the library's, by its own defaults but for what is said.
func providerOptions(g engine.Group) string {
	options := "pc.recovery=FALSE"
	if ms := g.SuspectMilliseconds; ms > 0 {
		seconds := func(ms int64) string { return "PT" + strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + "S" }
		options += fmt.Sprintf(";evs.suspect_timeout=%s;evs.inactive_timeout=%s;evs.keepalive_period=%s;evs.inactive_check_period=%s;evs.install_timeout=%s;evs.join_retrans_period=%s",
			seconds(ms), seconds(2*ms), seconds(ms/5), seconds(ms/10), seconds(ms), seconds(ms/5))
	}
	if packets := g.SendWindowPackets; packets > 0 {
		options += fmt.Sprintf(";evs.send_window=%d;evs.user_send_window=%d", packets, packets/2)
	}
	return options
}

// groupExpected are the settings that members report.
func groupExpected(g engine.Group) []wire.Setting {
	return []wire.Setting{
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
	}
}

// Private implements engine.Grouped.
func (Server) Private(m engine.MemberParams) (engine.PrivateFile, error) {
	password, err := m.Password(wire.AccountAdmin)
	if err != nil {
		return engine.PrivateFile{}, err
	}
	peers := slices.Clone(m.Peers)
	if m.Address != "" {
		peers = append(peers, m.Address)
	}
	if len(peers) == 0 {
		peers = []string{nowhere}
	}
	lines := []string{
		"[mariadbd]",
		"wsrep-node-name=" + m.Name,
		"wsrep-cluster-address=gcomm://" + strings.Join(peers, ","),
		"wsrep-sst-auth=" + wire.AccountAdmin + ":" + password,
		"wsrep-sst-donor=" + strings.Join(m.Donors, ",") + ",", // the last comma: or any other
	}
	if m.Address != "" {
		lines = append(lines, "wsrep-node-address="+m.Address)
	}
	return engine.PrivateFile{Name: privateFile, Content: strings.Join(lines, "\n") + "\n"}, nil
}

// Recovery implements engine.Grouped.
func (Server) Recovery(argv []string) engine.Recovery {
	return engine.Recovery{
		Start:      engine.Start{Argv: append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", groupServerID), "--wsrep-recover")},
		Unfinished: []string{"sst_in_progress"},
		Position:   recoveredPosition,
	}
}

var recovered = regexp.MustCompile(`WSREP: Recovered position: ([0-9a-f-]{36}):(-?[0-9]+)`)

// noHistory is how the server tells of data that never were in a group.
const noHistory = "00000000-0000-0000-0000-000000000000"

func recoveredPosition(output string) (wire.GroupPosition, error) {
	found := recovered.FindStringSubmatch(output)
	if found == nil {
		return wire.GroupPosition{}, errors.New("the server did not say how far its data have come: its messages have no recovered position")
	}
	n, err := strconv.ParseInt(found[2], 10, 64)
	if err != nil {
		return wire.GroupPosition{}, fmt.Errorf("read the recovered position: %w", err)
	}
	if found[1] == noHistory || n < 0 {
		return wire.GroupPosition{}, nil
	}
	return wire.GroupPosition{History: found[1], Sequence: n}, nil
}

// Enter implements engine.Grouped. The library begins a group only from data whose note says that it may: the note is written anew.
func (Server) Enter(argv []string, n engine.StartParams, e engine.Entry) engine.Start {
	s := engine.Start{Argv: append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", groupServerID)), Remove: []string{n.Socket}}
	if e.Position.History != "" {
		s.Argv = append(s.Argv, fmt.Sprintf("--wsrep-start-position=%s:%d", e.Position.History, e.Position.Sequence))
	}
	if e.Begins {
		s.Argv = append(s.Argv, "--wsrep-new-cluster")
		if e.Position.History != "" {
			s.DataFiles = []engine.PrivateFile{{Name: "grastate.dat", Content: fmt.Sprintf(
				"# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   -1\nsafe_to_bootstrap: 1\n", e.Position.History)}}
		}
	}
	return s
}

var transferBegins = regexp.MustCompile(`WSREP: Running: 'wsrep_sst_([a-z_]+) --role 'joiner'`)

// ReadTransfer implements engine.Grouped. Each joining begins as a transfer of all data, of which the donor then says that what is
// missing will do.
func (Server) ReadTransfer(line string) (engine.TransferNote, bool) {
	if found := transferBegins.FindStringSubmatch(line); found != nil {
		return engine.TransferNote{Event: engine.TransferBegins, Kind: wire.TransferFull, Method: "SST by " + found[1]}, true
	}
	switch {
	case strings.Contains(line, "received from donor: Running IST"):
		return engine.TransferNote{Event: engine.TransferIs, Kind: wire.TransferIncremental, Method: "IST"}, true
	case strings.Contains(line, "WSREP: Synchronized with group, ready for connections"):
		return engine.TransferNote{Event: engine.TransferEnds}, true
	case strings.Contains(line, "WSREP: Receiving IST failed, node restart required"): // it runs on, disconnected for good
		return engine.TransferNote{Event: engine.TransferFails}, true
	}
	return engine.TransferNote{}, false
}

// Alone implements engine.Alone. What it would change by itself is off; an inspection writes nothing.
func (Server) Alone(argv []string, n engine.StartParams) engine.Start {
	return engine.Start{
		Argv: append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", groupServerID), "--socket="+n.Socket, "--wsrep-on=OFF", noProvider,
			"--skip-networking", "--read-only=ON", "--event-scheduler=OFF", "--skip-slave-start"),
		Remove: []string{n.Socket},
	}
}

// noProvider tells a server that runs alone from the node's own.
const noProvider = "--wsrep-provider=none"
