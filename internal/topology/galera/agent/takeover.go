package agent

import (
	"context"
	"log/slog"
	"time"
)

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
	slog.Info("having the server's component become primary", "why", d.Why, "members", look.View.Members)
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	if err := m.client.TakeOver(ctx, look.View.Component); err != nil {
		slog.Warn("the server's component could not be made primary", "error", err)
	}
}
