package director

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

// tell logs what a decision changed.
func tell(before wire.DirectorState, decided decision) {
	after := decided.State
	if decided.Intent && after.Epoch != before.Epoch {
		slog.Info("primary chosen", "epoch", after.Epoch, "primary", after.Primary, "before", before.Primary)
	}
	if after.Message != before.Message && after.Message != "" {
		slog.Info("the topology is waiting", "waitsFor", after.Message)
	}
	if after.Configured && !before.Configured {
		slog.Info("every node has its role")
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
			slog.Info("ghost transactions of a node counted", "node", n.Name, "transactions", *g)
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
		slog.Info("the new primary stopped catching up", "epoch", f.Epoch, "node", f.NewPrimary, "unapplied", f.Unapplied)
	}
	if f.RepointedAt != nil && o.RepointedAt == nil {
		slog.Info("live replicas follow the new primary", "epoch", f.Epoch, "node", f.NewPrimary)
	}
}

var (
	epochFamily       = metrics.Gauge("replab_director_epoch", "The epoch, which grows with each promotion; absent before the first.")
	openedFamily      = metrics.Gauge("replab_director_primary_opened", "1 for a primary that takes writes; 0 for a node that is being promoted.", "node")
	roleFamily        = metrics.Gauge("replab_director_node_role", "1 for the node's role by the director's account: Writer, Reader, Isolated or Down.", "node", "role")
	caughtUpFamily    = metrics.Gauge("replab_director_node_caught_up", "1 while a replica has applied all that the primary has executed.", "node")
	failoversFamily   = metrics.Gauge("replab_director_failovers", "Recorded changes of the primary, including requested ones.")
	switchoversFamily = metrics.Gauge("replab_director_switchovers", "Recorded changes of the primary that were requested.")
)

func families() []*metrics.Family {
	return []*metrics.Family{epochFamily, openedFamily, roleFamily, caughtUpFamily, failoversFamily, switchoversFamily}
}

// showing tells the state as it is remembered; no node is asked for it.
func showing(state func() wire.DirectorState) *prometheus.Registry {
	return metrics.New(metrics.Collector{Families: families(), Read: func(tell metrics.Tell) {
		s := state()
		if s.Primary != "" {
			tell(epochFamily, float64(s.Epoch))
			tell(openedFamily, metrics.Bool(s.Opened), s.Primary)
		}
		for _, n := range s.Nodes {
			if n.Role != "" {
				tell(roleFamily, 1, n.Name, string(n.Role))
			}
			if n.Role == wire.RoleReader {
				tell(caughtUpFamily, metrics.Bool(n.CaughtUp), n.Name)
			}
		}
		tell(failoversFamily, float64(len(s.Failovers)))
		tell(switchoversFamily, float64(len(s.Switchovers)))
	}})
}
