package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// thinkInterval is the time between two decisions.
const thinkInterval = 100 * time.Millisecond

// Look is an answer of a member's server.
type Look struct {
	// Server is its process, by proc.Process.ID; "" while none runs. It is also set beside an error.
	Server string
	View   wire.GroupView
	Asked  time.Time
}

// Server is the member's own.
type Server interface {
	// Run watches the server until ctx ends.
	Run(ctx context.Context)
	// Look is what it says of its group; an error while it does not answer.
	Look() (Look, error)
}

// Member is the agent's part in the group of its server. It decides which member takes the writes. It makes a part of the group primary that
// has lost the other members for good.
type Member struct {
	cfg    wire.GroupConfig
	self   int
	server Server
	client engine.Member
	notes  Notes
	peers  *poller

	mu      sync.Mutex
	kept    *notes.Kept[note]
	former  string // the server's process that an earlier agent saw last, "" once this agent knows its state
	taker   string // the member that took over while this one had no agent, "" for none and once it is noted
	catchUp catchUp
	lost    time.Time // since when the last writer is lost
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
	kept, err := openNote(stateDir)
	if err != nil {
		return nil, err
	}
	return &Member{
		cfg: cfg, self: number, server: server, client: client, notes: NotesIn(runDir),
		peers: newPoller(NewAsker(cfg.Members, number)), kept: kept, former: kept.Note().Server, writer: -1, why: "nothing is known yet",
	}, nil
}

// Run decides until ctx ends.
func (m *Member) Run(ctx context.Context) {
	watch.Together(ctx, m.server.Run, m.peers.run, m.decideAgain)
}

// decideAgain decides again and again until ctx ends.
func (m *Member) decideAgain(ctx context.Context) {
	watch.Every(ctx, thinkInterval, func() {
		if err := m.think(time.Now()); err != nil {
			slog.Warn("the group's history could not be written", "error", err)
		}
		m.considerTakeOver(ctx)
	})
}

// think decides who has the writes at a moment.
func (m *Member) think(now time.Time) error {
	look, lookErr := m.server.Look()
	transfers, transfersErr := m.notes.AllTransfers()
	all := m.peers.askedAll() // before what they said is read
	answers := m.peers.standing(now)

	m.mu.Lock()
	defer m.mu.Unlock()
	own := &wire.GroupState{Resigned: m.kept.Note().Resigned}
	if lookErr == nil {
		own.View = &look.View
	}
	m.catchUp.follow(own.View, look.Asked, answers, now)
	anew := m.anew(look, lookErr, answers, all)
	missedErr := m.rememberTaker(anew, now)
	m.decide(own, lookErr, answers, all)
	if err := errors.Join(transfersErr, missedErr); err != nil || anew {
		return err
	}
	return m.remember(now, answers, transfers, look, own.View)
}

// anew tells whether an earlier agent saw the same server, and this agent does not know the server's state or the other members' writer yet.
// Until then the notes of the earlier agent stand.
func (m *Member) anew(look Look, err error, answers []Answer, all bool) bool {
	if m.former == "" || look.Server != m.former {
		return false
	}
	m.taker = cmp.Or(m.tookOver(answers), m.taker) // it gives the writes back as soon as it hears this agent
	if err == nil && all {
		m.former = ""
	}
	return m.former != ""
}

// decide is told whether all others were asked once.
func (m *Member) decide(own *wire.GroupState, lookErr error, answers []Answer, all bool) {
	before := slices.IndexFunc(m.cfg.Members, func(n wire.Node) bool { return n.Name == m.kept.Note().Writer })
	m.writer = Writer(m.cfg.Members, m.self, before, own, answers)
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
	case m.writer == m.self && m.former != "" && !all: // one of them may have taken over meanwhile
		m.why = "the other members have not been asked yet who takes the writes"
	case m.writer == m.self:
		m.writes = true
	default:
		m.reads, m.why = true, m.cfg.Members[m.writer].Name+" takes the writes"
	}
}

// State is what this member tells of itself. Callers look for the server's process before: if the wrapper then still says that it waits, no
// server was started in between.
func (m *Member) State() (wire.GroupState, error) {
	start, err := m.notes.Start.Load()
	if err != nil {
		return wire.GroupState{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	note := m.kept.Note()
	s := wire.GroupState{NodeHistory: note.Told(time.Now()), Start: start, Resigned: note.Resigned, CaughtUp: m.catchUp.caught}
	s.Writes, s.Why = m.writes, m.why
	if m.writer >= 0 {
		s.Leader = m.cfg.Members[m.writer].Name
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

const (
	// takeOverInterval is the time between two rounds of an agent whose server is apart.
	takeOverInterval = time.Second
	// takeOverTimeout bounds the statement.
	takeOverTimeout = 5 * time.Second
)

// considerTakeOver has the server's component become primary when no other can be.
func (m *Member) considerTakeOver(ctx context.Context) {
	look, err := m.server.Look()
	now := time.Now()
	if err != nil || look.View.Primary || look.View.StableMilliseconds < stableMilliseconds || now.Sub(m.lastAct) < takeOverInterval {
		return
	}
	m.lastAct = now
	d := Decide(m.self, Standings(m.cfg.Members, m.self, Running(look.View), m.peers.asker.Round(ctx)))
	if d.Act != Begin {
		return
	}
	slog.Info("making the server's component primary", "why", d.Why, "members", look.View.Members)
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	if err := m.client.TakeOver(ctx, look.View.Component); err != nil {
		slog.Warn("the server's component could not be made primary", "error", err)
	}
}
