package family

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// MemberFile holds what a member's configuration has of its own; all members' configuration includes it.
const MemberFile = "member.cnf"

// nowhere is an address at which no member can be: without any address a server would begin a group of its own.
const nowhere = "127.0.0.1:1"

// MemberLines are what differs between the members of a Galera cluster, in the configuration file of each.
func MemberLines(m engine.MemberParams) []string {
	lines := []string{
		"wsrep-node-name=" + m.Name,
		"wsrep-cluster-address=" + clusterAddress(m),
		"wsrep-sst-donor=" + strings.Join(m.Donors, ",") + ",", // the last comma: or any other
	}
	if m.Address != "" {
		lines = append(lines, "wsrep-node-address="+bracketed(m.Address))
	}
	return lines
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

// ProviderOptions are the library's, by its own defaults but for what is said. pc.recovery off: the library never makes members primary by
// itself after all servers died.
func ProviderOptions(g engine.Group) string {
	options := []string{"pc.recovery=FALSE"}
	for _, s := range append(timings(g), windows(g)...) {
		if !s.AnyValue {
			options = append(options, s.Name+"="+s.Value)
		}
	}
	return strings.Join(options, ";")
}

// timings decide when a member is taken for lost, and so how long writes stand still. Unset ones are the library's own.
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

// ProviderVariable has the library's settings within it.
const ProviderVariable = "wsrep_provider_options"

// ProviderExpected are the library's settings that are set, and those that decide figures: how soon a member is taken for lost, what it has under way, when
// writes are held up for one that cannot keep up, what one that was away can still fetch without all data, and how long a read waits.
func ProviderExpected(g engine.Group) []wire.Setting {
	list := append(append(timings(g), windows(g)...), wire.Setting{Name: "pc.recovery", Value: "FALSE"})
	for _, name := range []string{"gcache.size", "gcs.fc_factor", "gcs.fc_limit", "repl.causal_read_timeout"} {
		list = append(list, wire.Setting{Name: name, AnyValue: true, MayLack: true})
	}
	for i := range list {
		list[i].Name = ProviderVariable + "." + list[i].Name
	}
	return list
}

// Recovery is how a stopped member is asked how far its data have come, started as argv. It is a real recovery of the data: a server that
// finds transactions prepared in them decides about each, as it would when it joins, and the position is that of what it decided.
func Recovery(argv []string) engine.Recovery {
	return engine.Recovery{
		Start:      engine.Start{Argv: append(slices.Clone(argv), "--wsrep-recover")},
		Unfinished: []string{"sst_in_progress"},
		Whole:      []string{"mysql"}, // the folder of the system tables
		Position:   func(output, _ string) (wire.GroupPosition, error) { return RecoveredPosition(output) },
	}
}

// recovered is what MariaDB writes as "WSREP: Recovered position: ", and MySQL, by the part of it that speaks, as "[WSREP] Recovered position: ".
var recovered = regexp.MustCompile(`WSREP[\]:] Recovered position: ([0-9a-f-]{36}):(-?[0-9]+)`)

// noHistory is the history of data that never were in a group.
const noHistory = "00000000-0000-0000-0000-000000000000"

// RecoveredPosition reads what a recovery wrote.
func RecoveredPosition(output string) (wire.GroupPosition, error) {
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

// StateNote is the library's own note of the data's position. While a member runs it says that the position is not known.
const StateNote = "grastate.dat"

var noted = regexp.MustCompile(`(?m)^uuid: +([0-9a-f-]{36})\n(?:.*\n)*?seqno: +([0-9]+)$`)

// NotedPosition reads the library's note; the zero position without one.
func NotedPosition(note string) wire.GroupPosition {
	found := noted.FindStringSubmatch(note)
	if found == nil || found[1] == noHistory {
		return wire.GroupPosition{}
	}
	n, err := strconv.ParseInt(found[2], 10, 64)
	if err != nil {
		return wire.GroupPosition{}
	}
	return wire.GroupPosition{History: found[1], Sequence: n}
}

// Enter has a start of a server be that of a member. The library begins a group only from data whose note says that it may: the note is
// written anew.
func Enter(s engine.Start, e engine.Entry) engine.Start {
	if e.Position.History != "" {
		s.Argv = append(s.Argv, fmt.Sprintf("--wsrep-start-position=%s:%d", e.Position.History, e.Position.Sequence))
	}
	if e.Begins {
		s.Argv = append(s.Argv, "--wsrep-new-cluster")
		if e.Position.History != "" {
			s.DataFiles = []engine.PrivateFile{{Name: StateNote, Content: fmt.Sprintf(
				"# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   -1\nsafe_to_bootstrap: 1\n", e.Position.History)}}
		}
	}
	return s
}

var catchesUp = regexp.MustCompile(`Receiving IST: [0-9]+ writesets`)

// ReadTransfer does as engine.Grouped says. begins finds the line by which a server says that it asks for the others' data. Each start begins as a transfer of all data, of which the donor then says that what is missing will do. A server that
// ran on while it was away is brought that without more ado.
func ReadTransfer(line string, begins *regexp.Regexp) (engine.TransferNote, bool) {
	switch {
	case begins.MatchString(line):
		return engine.TransferNote{Event: engine.TransferBegins, Kind: v1alpha1.ResyncSST}, true
	case strings.Contains(line, "received from donor: Running IST"):
		return engine.TransferNote{Event: engine.TransferIs, Kind: v1alpha1.ResyncIST}, true
	case catchesUp.MatchString(line):
		return engine.TransferNote{Event: engine.TransferCatchesUp, Kind: v1alpha1.ResyncIST}, true
	case strings.Contains(line, "Synchronized with group, ready for connections"):
		return engine.TransferNote{Event: engine.TransferEnds}, true
	case strings.Contains(line, "Receiving IST failed, node restart required"): // it runs on, disconnected for good
		return engine.TransferNote{Event: engine.TransferFails}, true
	}
	return engine.TransferNote{}, false
}
