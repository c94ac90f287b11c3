package family

import (
	"slices"
	"strconv"
	"strings"

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
