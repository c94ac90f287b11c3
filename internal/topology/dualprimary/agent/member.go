package agent

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// lookInterval is the time between two looks at the server, and between two questions to the other agent.
	lookInterval = 200 * time.Millisecond
	// askTimeout bounds one question to the other agent.
	askTimeout = 800 * time.Millisecond
)

// settings of a member.
type settings struct {
	second   bool
	semiSync bool
	source   engine.Source // the other server
	position func(text string) (engine.Position, error)
	ask      func(context.Context) (wire.NodeState, error) // the other agent
}

// note is what an agent knows of its node beyond its own life.
type note struct{ history.History }

// Clone returns a note that can be changed without changing this one.
func (n note) Clone() note { return note{n.History.Clone()} }

// Member is one of the two.
type Member struct {
	settings
	admin   engine.Admin
	traffic *traffic // nil where it is not counted
	server  *watch.Watcher[engine.Look]

	mu         sync.Mutex
	kept       *notes.Kept[note]
	peer       engine.Position // of the other server's last answer
	heard      time.Time       // when that came; before the first, when this agent began
	known      bool            // there was one
	peerPlaced time.Time       // when this agent first heard that the other node was in its place, zero before
	goal       engine.Position // that the server is compared with, by a look after goalAt
	goalAt     time.Time       // zero without a goal
	caughtUp   bool
}

// newMember takes up what an earlier agent has left in stateDir.
func newMember(s settings, admin engine.Admin, finder *proc.Finder, stateDir string) (*Member, error) {
	kept, err := notes.Open[note](filepath.Join(stateDir, "pair.json"))
	if err != nil {
		return nil, err
	}
	m := &Member{settings: s, admin: admin, kept: kept, heard: time.Now()}
	m.server = &watch.Watcher[engine.Look]{Finder: finder, Question: m.look, Interval: lookInterval}
	return m, nil
}

// look asks for the server's acknowledgers until the node was once in its place: they cost more.
func (m *Member) look(ctx context.Context) (engine.Look, error) {
	m.mu.Lock()
	placed := m.kept.Note().Was
	m.mu.Unlock()
	return m.admin.Look(ctx, engine.Question{Acknowledgers: m.semiSync && !placed})
}

// listen asks the other agent until ctx ends.
func (m *Member) listen(ctx context.Context) {
	watch.Every(ctx, lookInterval, func() {
		asked, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		state, err := m.ask(asked)
		if err != nil || state.Pair == nil || !state.Pair.Answers {
			return
		}
		position, err := m.position(state.Pair.Executed)
		if err != nil {
			slog.Warn("the other agent reported an unreadable position", "error", err)
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.peer, m.heard, m.known = position, time.Now(), true
		if state.Pair.Placed && m.peerPlaced.IsZero() {
			m.peerPlaced = m.heard
		}
	})
}

// own is the server's last look, nil while it does not answer.
func (m *Member) own(now time.Time) (own *engine.Look, asked time.Time, err error) {
	server, err := m.server.Finder.Find()
	if err != nil {
		return nil, time.Time{}, err
	}
	a := m.server.Last()
	if err := a.Stands(server, now); err != nil {
		return nil, time.Time{}, err
	}
	return &a.Value, a.Asked, nil
}

// remember compares the two servers, and keeps when the node was out of its place, until ctx ends.
func (m *Member) remember(ctx context.Context) {
	watch.Every(ctx, lookInterval/2, func() {
		now := time.Now()
		own, asked, err := m.own(now)
		if errors.Is(err, watch.ErrNotAsked) {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.compare(own, asked, now)
		if err := m.kept.Change(func(n *note) { n.move(m.observed(own, asked, now), m.semiSync, now) }); err != nil {
			slog.Warn("the node's history could not be written", "error", err)
		}
	})
}

// compare tells whether the server has what the other one had before it was looked at.
func (m *Member) compare(own *engine.Look, asked, now time.Time) {
	switch {
	case own == nil, !m.known, now.Sub(m.heard) > watch.Freshness:
		m.caughtUp, m.goalAt = false, time.Time{}
		return
	case m.goalAt.IsZero():
	case asked.After(m.goalAt):
		m.caughtUp = own.Executed.Contains(m.goal)
	default:
		return
	}
	m.goal, m.goalAt = m.peer, now
}

func (m *Member) observed(own *engine.Look, asked, now time.Time) observation {
	return observation{own: own, asked: asked, caughtUp: m.caughtUp, silent: now.Sub(m.heard)}
}

// see never waits for the server.
func (m *Member) see() observation {
	now := time.Now()
	own, asked, _ := m.own(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.observed(own, asked, now)
}

// move notes whether the node is in its place: its server is open. At first it must also follow the other one, and be followed where commits
// wait for that; after an absence it must have what the other one has, unless that is gone.
func (n *note) move(s observation, semiSync bool, now time.Time) {
	switch {
	case !s.writable():
		n.Leave(now)
	case !n.Was && s.follows() && s.caughtUp && (!semiSync || s.own.Acknowledgers > 0), n.Was && s.hasAll():
		n.Back(now)
	}
}

// command does to the server what is to be done, until ctx ends. Each act is decided by a look that is later than the act before.
func (m *Member) command(ctx context.Context) {
	said, acted := "", time.Time{}
	watch.Every(ctx, lookInterval, func() {
		s := m.see()
		next := decide(s, m.source, m.semiSync)
		if next == nothing || !s.asked.After(acted) {
			return
		}
		err := m.do(ctx, next)
		acted = time.Now()
		switch {
		case err == nil:
			said = ""
			slog.Info("step done", "step", string(next))
		case err.Error() != said:
			said = err.Error()
			slog.Warn("step failed, trying again", "step", string(next), "error", err)
		}
	})
}

func (m *Member) do(ctx context.Context, next act) error {
	switch next {
	case attach:
		return m.admin.Attach(ctx, m.source)
	case start:
		return m.admin.Turn(ctx, engine.StartBoth)
	case await:
		return m.admin.AwaitReplicas(ctx)
	case open:
		return m.admin.Open(ctx)
	}
	return nil
}

// State is what the agent tells of the node.
func (m *Member) State() wire.PairState {
	now := time.Now()
	own, asked, err := m.own(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	n, s := m.kept.Note(), m.observed(own, asked, now)
	state := wire.PairState{NodeHistory: n.Told(now), Placed: n.Was, Answers: own != nil}
	if own == nil {
		state.Why = err.Error()
		return state
	}
	state.Writes, state.Executed = own.Writable, own.Executed.String()
	state.Follows, state.CaughtUp, state.Stopped = s.follows(), s.caughtUp, s.stopped()
	state.Why = s.why()
	return state
}

// why says what the server lacks, "" where that is nothing.
func (s observation) why() string {
	switch {
	case s.stopped() != "":
		return "its replication stopped: " + s.stopped()
	case !s.follows() && s.own.LastError != "":
		return "it does not replicate from the other server: " + s.own.LastError
	case !s.follows():
		return "it does not replicate from the other server yet"
	case !s.caughtUp:
		return "it has not applied all that the other server has"
	case !s.own.Writable:
		return "it is not open yet"
	}
	return ""
}
