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

// noHistory is how the server tells of data that never were in a group.
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

// NotedPosition reads the library's note; the zero position where it has none.
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
