package director

import (
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

var (
	epochFamily       = metrics.Gauge("replab_director_epoch", "The epoch, which grows with each promotion; absent before the first.")
	openedFamily      = metrics.Gauge("replab_director_primary_opened", "1 for the node that is primary and was made writable; 0 for the one that is being made primary.", "node")
	roleFamily        = metrics.Gauge("replab_director_node_role", "1 for the role that the director sees a node in: Writer, Reader, Isolated or Down.", "node", "role")
	caughtUpFamily    = metrics.Gauge("replab_director_node_caught_up", "1 while a replica has applied all that the primary has executed.", "node")
	failoversFamily   = metrics.Gauge("replab_director_failovers", "Changes of the primary that the director has on record, those that were asked for among them.")
	switchoversFamily = metrics.Gauge("replab_director_switchovers", "Changes of the primary that were asked for, as far as the director has them on record.")
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
