// Package starter is the start wrapper's part of servers that form a group: it finds out how far a node's data have come, waits until the
// server may join the other members or begin the group, and notes how the server gets their data.
package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/starter"
	"replab.dev/internal/topology/galera/agent"
	"replab.dev/internal/wire"
)

const (
	// roundInterval is the time between two rounds of questions to the other members.
	roundInterval = 200 * time.Millisecond
	// triesMost is how often in a row a server is started again here that did not stay in its group; then the container ends as it did.
	triesMost = 10
	// stays is how long a server runs that has joined its agent.
	stays = time.Minute
	// killed is the exit code of a server that was killed: it joined nothing in vain.
	killed = 128 + 9
)

// member is the wrapper's part in the group of its server.
type member struct {
	*starter.Node
	engine engine.Grouped
	notes  agent.Notes
	asker  *agent.Asker
	*transfers

	tries   int
	entered time.Time
	out     bool // the server was stopped since it stayed out of its group
}

// Family implements starter.Family for nodes whose servers form a group.
func Family(n *starter.Node) (starter.Way, error) {
	if n.Config.Group == nil {
		return nil, nil
	}
	grouped, ok := n.Engine.(engine.Grouped)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no groups, and the configuration names one", n.Config.Engine)
	}
	members := n.Config.Group.Members
	if n.Ordinal >= len(members) {
		return nil, fmt.Errorf("node %d is not among the %d members of the group in the configuration", n.Ordinal, len(members))
	}
	notes := agent.NotesIn(n.Config.RunDir)
	t, err := newTransfers(grouped, notes)
	if err != nil {
		return nil, err
	}
	return &member{Node: n, engine: grouped, notes: notes, asker: agent.NewAsker(members, n.Ordinal), transfers: t}, nil
}

// Prepare implements starter.Way. What was told to the other members is taken back first: it counts no more until the position is known
// again.
func (m *member) Prepare(ctx context.Context) (engine.Start, error) {
	if err := m.notes.Start.Remove(); err != nil {
		return engine.Start{}, err
	}
	if err := m.putPrivate("", nil); err != nil {
		return engine.Start{}, err
	}
	fresh, err := m.EnsureData(ctx)
	if err != nil {
		return engine.Start{}, err
	}
	params, err := m.Params()
	if err != nil {
		return engine.Start{}, err
	}
	unfinished, err := m.unfinished()
	if err != nil {
		return engine.Start{}, err
	}
	position, err := m.findPosition(ctx, fresh || unfinished) // before the inspection, of data that nothing has touched
	if err != nil {
		return engine.Start{}, err
	}
	if err := m.Inspect(ctx, params, fresh, unfinished); err != nil {
		return engine.Start{}, err
	}
	entry, err := m.enter(ctx, position)
	return m.engine.Enter(m.Config.Server, params, entry), err
}

// enter waits until the server may join the group, or begin it.
func (m *member) enter(ctx context.Context, position wire.GroupPosition) (engine.Entry, error) {
	said := ""
	for {
		if err := m.Held(); err != nil {
			return engine.Entry{}, errors.Join(err, m.notes.Start.Remove())
		}
		if err := m.notes.Start.Save(wire.GroupStart{Phase: wire.GroupGathering, Position: position, Why: said}); err != nil {
			return engine.Entry{}, err
		}
		answers := m.asker.Round(ctx)
		d := agent.Decide(m.Ordinal, agent.Standings(m.Config.Group.Members, m.Ordinal, agent.Waiting(position), answers))
		if d.Act != agent.Wait {
			ready, err := m.ready(ctx, d, position, answers)
			if err == nil {
				return ready, nil
			}
			d.Why = err.Error()
		}
		if d.Why != said {
			said = d.Why
			slog.Info("the start of the server waits", "why", said)
		}
		select {
		case <-ctx.Done():
			return engine.Entry{}, ctx.Err()
		case <-time.After(roundInterval):
		}
	}
}

// Again implements starter.Way: the server could not join.
func (m *member) Again(code int) bool {
	if !m.out && (code == 0 || code == killed) {
		return false
	}
	m.out = false
	if time.Since(m.entered) > stays {
		m.tries = 0
	}
	m.tries++
	return m.tries <= triesMost
}

// LeftOut implements starter.Listener.
func (m *member) LeftOut() <-chan struct{} { return m.failed }

// Ended implements starter.Listener.
func (m *member) Ended(leftOut bool) {
	m.out = leftOut
	m.died()
}
