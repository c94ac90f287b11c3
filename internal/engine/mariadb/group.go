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
	options := []string{"pc.recovery=FALSE"}
	for _, s := range append(timings(g), windows(g)...) {
		if !s.AnyValue {
			options = append(options, s.Name+"="+s.Value)
		}
	}
	return strings.Join(options, ";")
}

// timings decide when a member is taken for lost, and so how long writes stand still. Those that nobody has set are the library's own.
func timings(g engine.Group) []wire.Setting {
	times := func(name string, of, part int64) wire.Setting {
		if g.SuspectMilliseconds == 0 {
			return wire.Setting{Name: name, AnyValue: true}
		}
		return wire.Setting{Name: name, Value: "PT" + strconv.FormatFloat(float64(g.SuspectMilliseconds*of/part)/1000, 'f', -1, 64) + "S"}
	}
	return []wire.Setting{
		times("evs.suspect_timeout", 1, 1), times("evs.inactive_timeout", 2, 1), times("evs.keepalive_period", 1, 5),
		times("evs.inactive_check_period", 1, 10), times("evs.install_timeout", 1, 1), times("evs.join_retrans_period", 1, 5),
	}
}

// windows bound what a member has under way, and so what it commits over a distance.
func windows(g engine.Group) []wire.Setting {
	window := func(name string, packets int32) wire.Setting {
		if packets == 0 {
			return wire.Setting{Name: name, AnyValue: true}
		}
		return wire.Setting{Name: name, Value: strconv.Itoa(int(packets))}
	}
	return []wire.Setting{window("evs.send_window", g.SendWindowPackets), window("evs.user_send_window", g.SendWindowPackets/2)}
}

// providerVariable has the library's settings within it.
const providerVariable = "wsrep_provider_options"

// providerExpected are the library's settings that are set, and those that decide figures: how soon a member is taken for lost, what it has under way, when
// writes are held up for one that cannot keep up, what one that was away can still fetch without all data, and how long a read waits.
func providerExpected(g engine.Group) []wire.Setting {
	list := append(append(timings(g), windows(g)...), wire.Setting{Name: "pc.recovery", Value: "FALSE"})
	for _, name := range []string{"gcache.size", "gcs.fc_factor", "gcs.fc_limit", "repl.causal_read_timeout"} {
		list = append(list, wire.Setting{Name: name, AnyValue: true, MayLack: true})
	}
	for i := range list {
		list[i].Name = providerVariable + "." + list[i].Name
	}
	return list
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
	}, providerExpected(g)...)
}

// Private implements engine.Grouped.
func (Server) Private(m engine.MemberParams) (engine.PrivateFile, error) {
	password, err := m.Password(wire.AccountAdmin)
	if err != nil {
		return engine.PrivateFile{}, err
	}
	lines := []string{
		"[mariadbd]",
		"wsrep-node-name=" + m.Name,
		"wsrep-cluster-address=" + clusterAddress(m),
		"wsrep-sst-auth=" + wire.AccountAdmin + ":" + password,
		"wsrep-sst-donor=" + strings.Join(m.Donors, ",") + ",", // the last comma: or any other
	}
	if m.Address != "" {
		lines = append(lines, "wsrep-node-address="+bracketed(m.Address))
	}
	return engine.PrivateFile{Name: privateFile, Content: strings.Join(lines, "\n") + "\n"}, nil
}

// clusterAddress names the members that can be reached, this one among them. The library listens where it is told, which without a word is
// an address of IPv4.
func clusterAddress(m engine.MemberParams) string {
	var members []string
	for _, address := range append(slices.Clone(m.Peers), m.Address) {
		if address != "" {
			members = append(members, bracketed(address))
		}
	}
	switch {
	case len(members) == 0:
		return "gcomm://" + nowhere
	case isV6(m.Address):
		return "gcomm://" + strings.Join(members, ",") + "?gmcast.listen_addr=tcp://[::]:4567"
	}
	return "gcomm://" + strings.Join(members, ",")
}

func isV6(address string) bool { return strings.Contains(address, ":") }

// bracketed is an address as it stands before a port.
func bracketed(address string) string {
	if isV6(address) {
		return "[" + address + "]"
	}
	return address
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

var catchesUp = regexp.MustCompile(`WSREP: Receiving IST: [0-9]+ writesets`)

// ReadTransfer implements engine.Grouped. Each start begins as a transfer of all data, of which the donor then says that what is
// missing will do. A server that ran on while it was away is brought that without more ado.
func (Server) ReadTransfer(line string) (engine.TransferNote, bool) {
	if found := transferBegins.FindStringSubmatch(line); found != nil {
		return engine.TransferNote{Event: engine.TransferBegins, Kind: wire.TransferFull, Method: "SST by " + found[1]}, true
	}
	switch {
	case strings.Contains(line, "received from donor: Running IST"):
		return engine.TransferNote{Event: engine.TransferIs, Kind: wire.TransferIncremental, Method: "IST"}, true
	case catchesUp.MatchString(line):
		return engine.TransferNote{Event: engine.TransferCatchesUp, Kind: wire.TransferIncremental, Method: "IST"}, true
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
