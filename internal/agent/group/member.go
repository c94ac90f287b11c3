package group

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// thinkInterval is the time between two decisions.
	thinkInterval = 100 * time.Millisecond
	// takeOverInterval is the time between two rounds of an agent whose server is apart.
	takeOverInterval = time.Second
	// takeOverTimeout bounds the statement.
	takeOverTimeout = 5 * time.Second
)

// Look is what a member's server has said in answer to a question that was asked at a moment.
type Look struct {
	View  wire.GroupView
	Asked time.Time
}

// Server is the member's own.
type Server interface {
	// Look is what it says of its group; an error while it does not answer.
	Look() (Look, error)
}

// Member is what an agent does for its server's group: it decides who has the writes, and has a part of the group that lost the others
// for good become primary.
type Member struct {
	cfg    wire.GroupConfig
	self   int
	server Server
	client engine.Member
	notes  Notes
	ears   *listener

	mu      sync.Mutex
	memory  *memory
	chase   chase
	lost    time.Time // since when the last writer is none
	writer  int
	writes  bool
	reads   bool
	why     string
	lastAct time.Time
}

// NewMember takes up what an earlier agent has left in stateDir.
func NewMember(cfg wire.GroupConfig, self string, stateDir, runDir string, server Server, client engine.Member) (*Member, error) {
	number := -1
	for i, n := range cfg.Members {
		if n.Name == self {
			number = i
		}
	}
	if number < 0 {
		return nil, fmt.Errorf("node %q is not among the members of the group in the configuration", self)
	}
	memory, err := openMemory(stateDir)
	if err != nil {
		return nil, err
	}
	return &Member{
		cfg: cfg, self: number, server: server, client: client, notes: Notes{Dir: runDir},
		ears: newListener(NewAsker(cfg.Members, number)), memory: memory, writer: -1, why: "nothing is known yet",
	}, nil
}

// Run decides until ctx ends.
func (m *Member) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { m.ears.run(ctx) })
	loops.Go(func() {
		ticker := time.NewTicker(thinkInterval)
		defer ticker.Stop()
		for {
			if err := m.think(time.Now()); err != nil {
				slog.Warn("what is known of the group could not be kept", "error", err)
			}
			m.considerTakeOver(ctx)
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	loops.Wait()
}

// think decides who has the writes at a moment.
func (m *Member) think(now time.Time) error {
	look, lookErr := m.server.Look()
	transfers, transfersErr := m.notes.Transfers()
	heard := m.ears.heard(now)

	m.mu.Lock()
	defer m.mu.Unlock()
	own := &wire.GroupState{Resigned: m.memory.note.Resigned}
	if lookErr == nil {
		own.View = &look.View
	}
	m.chase.follow(own.View, look.Asked, heard, now)
	m.decide(own, lookErr, heard)
	if transfersErr != nil {
		return transfersErr
	}
	return m.remember(now, transfers, own.View)
}

// inPlace tells whether the member has its part in the group. Once it is out of it, it is back when it has what the others have.
func (m *Member) inPlace(v *wire.GroupView) bool {
	if v == nil || !v.Primary || !v.Serves {
		return false
	}
	return m.memory.note.Was && !m.memory.note.away() || v.Synced && m.chase.caught
}

func (m *Member) decide(own *wire.GroupState, lookErr error, heard []Heard) {
	m.writer = Writer(m.cfg.Members, m.self, own, heard)
	m.writes, m.reads, m.why = false, false, ""
	switch {
	case lookErr != nil:
		m.why = lookErr.Error()
	case !own.View.Primary:
		m.why = "the server is not in the primary component of its group"
	case m.writer < 0, !own.View.Synced && m.writer != m.self:
		m.why = "the server has not what the others have"
	case m.cfg.WriteAll:
		m.writes, m.reads = true, true
	case m.writer == m.self:
		m.writes = true
	default:
		m.reads, m.why = true, m.cfg.Members[m.writer].Name+" takes the writes"
	}
}

// remember writes down what has changed since.
func (m *Member) remember(now time.Time, transfers []wire.StateTransfer, own *wire.GroupView) error {
	inPlace := m.inPlace(own)
	note, writer, self := m.memory.note, "", m.cfg.Members[m.self].Name
	if m.writer >= 0 {
		writer = m.cfg.Members[m.writer].Name
	}
	switch {
	case writer == note.Writer:
		m.lost = time.Time{}
	case m.lost.IsZero():
		m.lost = now
	}
	merged := merge(note.Transfers, transfers)
	open := len(note.Terms) > 0 && note.Terms[len(note.Terms)-1].To == nil
	turned := !m.cfg.WriteAll && (writer != "" && writer != note.Writer || open != (writer == self))
	if merged == nil && !turned && !note.moved(inPlace) {
		return nil
	}
	lost := m.lost
	return m.memory.change(func(n *memoryNote) {
		if merged != nil {
			n.Transfers = merged
		}
		if n.moved(inPlace) {
			n.move(inPlace, now)
		}
		if turned {
			n.turn(self, writer, lost, now)
			if own != nil {
				n.counts(own.Members)
			}
		}
	})
}

// merge adds the transfers that a wrapper has noted to those that are known; nil when there is nothing new.
func merge(known, noted []wire.StateTransfer) []wire.StateTransfer {
	merged, changed := append([]wire.StateTransfer(nil), known...), false
	for _, n := range noted {
		at := -1
		for i, k := range merged {
			if k.BeganAt.Equal(&n.BeganAt) {
				at = i
			}
		}
		switch {
		case at < 0:
			merged, changed = append(merged, n), true
		case merged[at].EndedAt == nil && n.EndedAt != nil:
			merged[at], changed = n, true
		}
	}
	if !changed {
		return nil
	}
	return merged
}

// considerTakeOver has the server's component become primary when no other can be.
func (m *Member) considerTakeOver(ctx context.Context) {
	look, err := m.server.Look()
	now := time.Now()
	if err != nil || look.View.Primary || look.View.StableMilliseconds < settledMilliseconds || now.Sub(m.lastAct) < takeOverInterval {
		return
	}
	m.lastAct = now
	d := Decide(m.self, Standings(m.cfg.Members, m.self, Running(look.View), m.ears.asker.Round(ctx)))
	if d.Act != Begin {
		return
	}
	slog.Info("having the server's component become primary", "why", d.Why, "members", look.View.Members)
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	if err := m.client.TakeOver(ctx, look.View.Component); err != nil {
		slog.Warn("the server's component could not be made primary", "error", err)
	}
}

// State is what this member tells of itself. Whether a server runs is to be asked before: when its wrapper then still says that it waits, none
// has been started since.
func (m *Member) State() (wire.GroupState, error) {
	start, err := m.notes.Start()
	if err != nil {
		return wire.GroupState{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := wire.GroupState{
		Start: start, Writes: m.writes, Resigned: m.memory.note.Resigned, CaughtUp: m.chase.caught,
		Terms: m.memory.note.Terms, Transfers: m.memory.note.Transfers,
		Absences: m.memory.note.Absences, Why: m.why,
	}
	if m.writer >= 0 {
		s.Writer = m.cfg.Members[m.writer].Name
	}
	if look, err := m.server.Look(); err == nil {
		s.View = &look.View
	}
	return s, nil
}

// Writes tells whether the member takes writes, and why not.
func (m *Member) Writes() (bool, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes, m.why
}

// Reads tells whether it is one of those that others read from, and why not.
func (m *Member) Reads() (bool, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes && !m.reads {
		return false, "the server takes the writes"
	}
	return m.reads, m.why
}

// Resign has another member take the writes, or takes that back. It stands once it returns nil.
func (m *Member) Resign(resigned bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.memory.note.Resigned == resigned {
		return nil
	}
	return m.memory.change(func(n *memoryNote) { n.Resigned = resigned })
}
