// Package gtid is the algebra of what MariaDB servers have executed. It holds no IO, so that decisions can be pure.
//
// A transaction is named DOMAIN-SERVER-NUMBER. What a server says of itself, its binary log's state, is the last number of each
// server in each domain. That is enough to count, as far as the servers are run as replab runs them:
//   - Within a domain a server numbers without gaps, one more than the last transaction that it has, of any server
//     (gtid_strict_mode, log_slave_updates). So a domain's transactions are 1 to the last number, and those of one server
//     are in the order of their numbers.
//   - A server's id belongs to its data: data that were made or copied anew have another id. So two transactions of the
//     same name are the same, and a replica has of each server's transactions all up to some number.
//
// Hence two histories of a domain are alike up to the last transaction that both have, the fork, and have nothing in common after it.
package gtid

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
)

// State is the last transaction of each server in each domain. The zero value is empty and may be read. A State is never
// changed after it was made.
type State struct {
	domains map[uint32]domain
}

// domain is the last number of each server.
type domain map[uint32]uint64

// Parse reads the text form, such as @@gtid_binlog_state or @@gtid_slave_pos: "0-100-500,0-101-503". An empty text is the empty
// state. Of several entries of a server the highest counts.
func Parse(text string) (State, error) {
	s := State{domains: map[uint32]domain{}}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		if err := s.add(strings.TrimSpace(entry)); err != nil {
			return State{}, fmt.Errorf("GTID %q: %w", entry, err)
		}
	}
	return s, nil
}

func (s State) add(entry string) error {
	parts := strings.Split(entry, "-")
	if len(parts) != 3 {
		return fmt.Errorf("it is not DOMAIN-SERVER-NUMBER")
	}
	var numbers [3]uint64
	for i, bits := range []int{32, 32, 64} {
		n, err := strconv.ParseUint(parts[i], 10, bits)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	s.raise(uint32(numbers[0]), uint32(numbers[1]), numbers[2])
	return nil
}

// raise is for a State in the making.
func (s State) raise(d, server uint32, number uint64) {
	if s.domains[d] == nil {
		s.domains[d] = domain{}
	}
	s.domains[d][server] = max(s.domains[d][server], number)
}

// Union is what either has.
func (s State) Union(other State) State {
	u := State{domains: map[uint32]domain{}}
	for _, state := range []State{s, other} {
		for d, servers := range state.domains {
			for server, number := range servers {
				u.raise(d, server, number)
			}
		}
	}
	return u
}

// last is the domain's last number and the server that made it.
func (d domain) last() (server uint32, number uint64) {
	for s, n := range d {
		if n > number {
			server, number = s, n
		}
	}
	return server, number
}

// Beyond implements engine.Transactions.
func (s State) Beyond(other engine.Transactions) int64 {
	o, _ := other.(State) // nil is the empty state
	var n int64
	for d, servers := range s.domains {
		n += servers.beyond(o.domains[d])
	}
	return n
}

func (d domain) beyond(other domain) int64 {
	server, last := d.last()
	if other[server] >= last {
		return 0
	}
	var fork uint64 // the last transaction that both have
	for s, n := range d {
		fork = max(fork, min(n, other[s]))
	}
	return int64(last - fork)
}

// Has reports whether a transaction is among them.
func (s State) Has(d, server uint32, number uint64) bool { return s.domains[d][server] >= number }

// Last is the last number of a domain, 0 when it is empty.
func (s State) Last(d uint32) uint64 {
	_, number := s.domains[d].last()
	return number
}

// MadeBy reports whether a server made any of them.
func (s State) MadeBy(server uint32) bool {
	for _, servers := range s.domains {
		if servers[server] > 0 {
			return true
		}
	}
	return false
}

// String is the text form, in order: equal states have equal texts. Parse and servers read it.
func (s State) String() string {
	var entries []string
	for _, d := range slices.Sorted(maps.Keys(s.domains)) {
		servers := slices.SortedFunc(maps.Keys(s.domains[d]), func(a, b uint32) int {
			return cmp.Compare(s.domains[d][a], s.domains[d][b])
		})
		for _, server := range servers {
			entries = append(entries, fmt.Sprintf("%d-%d-%d", d, server, s.domains[d][server]))
		}
	}
	return strings.Join(entries, ",")
}

// Position is the text of the last transaction of each domain, as gtid_slave_pos and MASTER_GTID_WAIT have it.
func (s State) Position() string {
	var entries []string
	for _, d := range slices.Sorted(maps.Keys(s.domains)) {
		server, number := s.domains[d].last()
		entries = append(entries, fmt.Sprintf("%d-%d-%d", d, server, number))
	}
	return strings.Join(entries, ",")
}
