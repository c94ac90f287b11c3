package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"replab.dev/internal/agent/hold"
	"replab.dev/internal/engine"
	group "replab.dev/internal/topology/galera/agent"
	"replab.dev/internal/wire"
)

const (
	// roundInterval is the time between two rounds of questions to the other members.
	roundInterval = 200 * time.Millisecond
	// triesMost is how often in a row a server is started again here that did not stay in its group; then the container ends as it did.
	triesMost = 10
	// stays is how long a server runs that has joined its group.
	stays = time.Minute
	// killed is the exit code of a server that was killed: it joined nothing in vain.
	killed = 128 + 9
)

// errHeld says that a hold was put while the wrapper waited for the other members.
var errHeld = errors.New("the server is held")

// member is the wrapper's part in the group of its server. A nil member is of a server that is in none.
type member struct {
	cfg       wire.ServerConfig
	engine    engine.Grouped
	ordinal   int
	notes     group.Notes
	asker     *group.Asker
	transfers *transfers
	logger    *slog.Logger

	tries   int
	entered time.Time
	out     bool // the server was stopped since it stayed out of its group
}

func newMember(cfg wire.ServerConfig, e engine.Starter, ordinal int, log *slog.Logger) (*member, error) {
	grouped, ok := e.(engine.Grouped)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no groups, and the configuration names one", cfg.Engine)
	}
	if ordinal >= len(cfg.Group.Members) {
		return nil, fmt.Errorf("node %d is not among the %d members of the group in the configuration", ordinal, len(cfg.Group.Members))
	}
	notes := group.Notes{Dir: cfg.RunDir}
	t, err := newTransfers(grouped, notes)
	return &member{
		cfg: cfg, engine: grouped, ordinal: ordinal, notes: notes, asker: group.NewAsker(cfg.Group.Members, ordinal), transfers: t, logger: log,
	}, err
}

// begin takes back what was told to the others: it counts no more until the position is known again.
func (m *member) begin() error {
	if m == nil {
		return nil
	}
	if err := m.notes.RemoveStart(); err != nil {
		return err
	}
	return m.putPrivate("", nil)
}

// enter waits until the server may join the group, or begin it.
func (m *member) enter(ctx context.Context, position wire.GroupPosition) (engine.Entry, error) {
	said := ""
	for {
		if standing, err := hold.Standing(m.cfg.HoldDir, time.Now()); err != nil || len(standing) > 0 {
			return engine.Entry{}, errors.Join(err, errHeld, m.notes.RemoveStart())
		}
		if err := m.notes.PutStart(wire.GroupStart{Phase: wire.GroupGathering, Position: position, Why: said}); err != nil {
			return engine.Entry{}, err
		}
		heard := m.asker.Round(ctx)
		d := group.Decide(m.ordinal, group.Standings(m.cfg.Group.Members, m.ordinal, group.Waiting(position), heard))
		if d.Act != group.Wait {
			ready, err := m.ready(ctx, d, position, heard)
			if err == nil {
				return ready, nil
			}
			d.Why = err.Error()
		}
		if d.Why != said {
			said = d.Why
			m.logger.Info("waiting before the server is started", "why", said)
		}
		select {
		case <-ctx.Done():
			return engine.Entry{}, ctx.Err()
		case <-time.After(roundInterval):
		}
	}
}

// leftOut tells once that the running server stays out of its group until it is started again; never of a server that is in none.
func (m *member) leftOut() <-chan struct{} {
	if m == nil {
		return nil
	}
	return m.transfers.failed
}

// triesAgain tells whether a server that ended with this code is to be started again at once: it could not join.
func (m *member) triesAgain(code int) bool {
	if m == nil || !m.out && (code == 0 || code == killed) {
		return false
	}
	m.out = false
	if time.Since(m.entered) > stays {
		m.tries = 0
	}
	m.tries++
	return m.tries <= triesMost
}

// ended notes that the server has.
func (m *member) ended() {
	if m != nil {
		m.transfers.died()
	}
}

// log is where the server's messages go, nil for where they go anyhow.
func (m *member) log() io.Writer {
	if m == nil {
		return nil
	}
	return m.transfers
}
