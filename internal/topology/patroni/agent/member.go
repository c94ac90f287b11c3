package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// thinkInterval is the time between two looks at what is known.
const thinkInterval = LookInterval

// Server is the node's own.
type Server interface {
	// Run watches the server until ctx ends.
	Run(ctx context.Context)
	// Look never waits. An error says that the processes cannot be read.
	Look() (Look, error)
}

// Member is what an agent does for a node whose server a manager runs.
type Member struct {
	cfg        wire.ManagerConfig
	self       string
	server     Server
	client     engine.ManagerClient
	poller     *poller
	promotions *lines[time.Time]
	rewinds    *lines[wire.RewindNote]
	orders     chan order // at most one is under way

	mu       sync.Mutex
	kept     *notes.Kept[note]
	seen     bool // by this agent
	answered bool // a server has, this agent
	observed Observation
	standby  standby
	why      string // the server does not answer
}

// New takes up what an earlier agent has left in stateDir. self is the node's name, runDir where its server's container leaves notes.
func New(cfg wire.ManagerConfig, self, stateDir, runDir string, server Server, client engine.ManagerClient) (*Member, error) {
	k, err := openNote(stateDir)
	if err != nil {
		return nil, err
	}
	return &Member{
		cfg: cfg, self: self, server: server, client: client, poller: &poller{client: client},
		promotions: promotionsIn(runDir), rewinds: rewindsIn(runDir), orders: make(chan order, 1),
		kept: k, why: "nothing is known yet",
	}, nil
}

// Run looks and keeps what it saw until ctx ends.
func (m *Member) Run(ctx context.Context) {
	loops := []func(context.Context){m.server.Run, m.poller.run, m.observe, m.switchOvers}
	if m.cfg.PauseAt > 0 {
		loops = append(loops, m.pause)
	}
	watch.Together(ctx, loops...)
}

// observe keeps what is seen until ctx ends.
func (m *Member) observe(ctx context.Context) {
	said := ""
	watch.Every(ctx, thinkInterval, func() {
		if err := m.think(time.Now()); err != nil && !errors.Is(err, watch.ErrNotAsked) && err.Error() != said {
			said = err.Error()
			slog.Warn("the node's history could not be written", "error", err)
		}
	})
}

// think keeps what is seen at a moment.
func (m *Member) think(now time.Time) error {
	look, err := m.server.Look()
	if err != nil {
		m.tellsNothing(err)
		return err
	}
	promotions, promotionsErr := m.promotions.read()
	rewinds, rewindsErr := m.rewinds.read()
	s := m.poller.last().observation(look, now)

	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered = m.answered || s.Position != nil
	s.First, s.Unanswered = !m.seen, !m.answered
	m.observed, m.why = s, look.Why
	m.standby.see(s)
	err = m.kept.Change(func(n *note) {
		n.turn(m.self, s, m.standby, promotions)
		n.move(s, rewinds)
	})
	m.seen = m.seen || err == nil
	return errors.Join(err, promotionsErr, rewindsErr)
}

// tellsNothing notes why nothing is known of the server, as long as nothing ever was.
func (m *Member) tellsNothing(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen {
		m.why = why.Error()
	}
}

// State is what the agent tells of the node.
func (m *Member) State() wire.ManagerState {
	h, now := m.poller.last(), time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	node, s, n := h.node.value, m.observed, m.kept.Note()
	state := wire.ManagerState{
		NodeHistory: n.Told(now), Answers: h.node.fresh(now), Holds: s.Holds, Synchronous: node.Synchronous, Paused: node.Paused,
		State: node.State, Role: node.Role, Members: h.cluster.value.Running, Config: h.words(),
	}
	state.Writes, state.Leader, state.Why = s.writes(), h.leader(now), m.whyNot(h)
	if p := s.Position; p != nil {
		state.Streaming, state.Waits = p.Streaming, p.Waits
		state.Timeline, state.Written, state.Received, state.Applied = p.Timeline, p.Written, p.Received, p.Applied
	}
	return state
}

// whyNot is why the node takes no writes, "" where it does.
func (m *Member) whyNot(h answers) string {
	s := m.observed
	switch {
	case s.Position == nil:
		return m.why
	case s.writes():
		return ""
	case h.node.err != nil:
		return "its manager does not answer: " + h.node.err.Error()
	case s.writable():
		return "its Patroni does not hold the leader lock"
	case s.Leader == "":
		return "no node holds the lock"
	case s.Leader == m.self:
		return "it holds the lock, and its server has not been promoted yet"
	}
	return s.Leader + " holds the lock"
}

// words are the settings in the managers' store, with the manager's version; nil until they are known.
func (h answers) words() map[string]string {
	if h.settings.value.Words == nil {
		return nil
	}
	all := map[string]string{"version": h.node.value.Version}
	for name, value := range h.settings.value.Words {
		all[name] = value
	}
	return all
}
