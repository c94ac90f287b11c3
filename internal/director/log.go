package director

import (
	"log/slog"

	"replab.dev/internal/wire"
)

// tell logs what a decision changed.
func tell(before wire.DirectorState, decided decision) {
	after := decided.State
	if decided.Intent && after.Epoch != before.Epoch {
		slog.Info("primary chosen", "epoch", after.Epoch, "primary", after.Primary, "before", before.Primary)
	}
	if after.Message != before.Message && after.Message != "" {
		slog.Info("waiting", "message", after.Message)
	}
	if after.Configured && !before.Configured {
		slog.Info("every node is in its place")
	}
	old := map[string]wire.NodeView{}
	for _, n := range before.Nodes {
		old[n.Name] = n
	}
	for _, n := range after.Nodes {
		if o := old[n.Name]; o.Role != n.Role || o.Rejoin != n.Rejoin {
			slog.Info("node changed", "node", n.Name, "role", n.Role, "was", o.Role, "rejoin", n.Rejoin, "why", n.Why)
		}
		if g := n.GhostTransactions; g != nil && old[n.Name].GhostTransactions == nil {
			slog.Info("ghosts counted", "node", n.Name, "transactions", *g)
		}
	}
	tellMoments(before, after)
	tellSwitchover(before, after)
}

func tellSwitchover(before, after wire.DirectorState) {
	if n := len(after.Switchovers); n > 0 && n == len(before.Switchovers) && after.Switchovers[n-1].Outcome != before.Switchovers[n-1].Outcome {
		w := after.Switchovers[n-1]
		slog.Info("switchover ended", "name", w.Name, "from", w.From, "to", w.To, "outcome", w.Outcome, "why", w.Why)
	}
}

func tellMoments(before, after wire.DirectorState) {
	n := len(after.Failovers)
	if n == 0 {
		return
	}
	f, o := after.Failovers[n-1], wire.DirectedFailover{}
	if len(before.Failovers) == n {
		o = before.Failovers[n-1]
	}
	if f.FencedAt != nil && o.FencedAt == nil {
		slog.Info("old primary is fenced", "epoch", f.Epoch, "node", f.OldPrimary)
	}
	if f.AppliedAt != nil && o.AppliedAt == nil {
		slog.Info("catching up has ended", "epoch", f.Epoch, "node", f.NewPrimary, "unapplied", f.Unapplied)
	}
	if f.RepointedAt != nil && o.RepointedAt == nil {
		slog.Info("live replicas follow the new primary", "epoch", f.Epoch, "node", f.NewPrimary)
	}
}
