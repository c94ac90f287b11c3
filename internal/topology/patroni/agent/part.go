package agent

import (
	"fmt"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

// NewPart implements part.Make for nodes whose servers a manager runs.
func NewPart(n part.Node) (part.Part, error) {
	if n.Config.Manager == nil {
		return nil, nil
	}
	local, managed := n.Engine.(engine.ManagedLocal)
	client, tells := n.Client.(engine.Positioned)
	if !managed || !tells {
		return nil, fmt.Errorf("engine %s knows no managers, and the configuration names one", n.Config.Engine)
	}
	w := NewWatcher(n.Server, client)
	return New(*n.Config.Manager, n.Name, n.Config.StateDir, n.Config.RunDir, w, local.ManagerClient(n.Config.Manager.URL, n.Password))
}

// Describe implements part.Part.
func (m *Member) Describe(state *wire.NodeState) error {
	s := m.State()
	state.Manager = &s
	return nil
}

// Writes implements part.Part.
func (m *Member) Writes() (bool, string) {
	s := m.State()
	return s.Writes, s.Why
}

var (
	answersFamily   = metrics.Gauge("replab_agent_manager_up", "1 while the server's manager answers; absent where none runs the server.")
	leaderFamily    = metrics.Gauge("replab_agent_manager_leader", "1 while this node holds the lock of who takes the writes; absent where no manager runs the server.")
	streamingFamily = metrics.Gauge("replab_agent_manager_streaming", "1 while the server is a standby that is connected with the one that it takes its log from; absent where no manager runs the server.")
	standbyFamily   = metrics.Gauge("replab_agent_manager_synchronous", "1 while the managers count the node among the standbys that commits wait for; absent where no manager runs the server.")
	waitsFamily     = metrics.Gauge("replab_agent_manager_commits_wait", "1 while the server has commits wait for standbys; absent where no manager runs the server.")
	pauseFamily     = metrics.Gauge("replab_agent_manager_paused", "1 while the managers decide nothing; absent where no manager runs the server.")
	timelineFamily  = metrics.Gauge("replab_agent_manager_timeline", "Timeline that the server writes or receives; absent while the server does not answer.")
	logFamily       = metrics.Counter("replab_agent_manager_log_bytes_total", "How far the server's log has come: written of a writer, received and applied of a standby; absent while the server does not answer.", "position")
)

// Families of a member's metrics.
func Families() []*metrics.Family {
	return []*metrics.Family{answersFamily, leaderFamily, streamingFamily, standbyFamily, waitsFamily, pauseFamily, timelineFamily, logFamily}
}

// Families implements part.Measured.
func (*Member) Families() []*metrics.Family { return Families() }

// Measure implements part.Measured.
func (m *Member) Measure(tell metrics.Tell) { Measure(tell, m.State()) }

// Measure tells the metrics of a member's state.
func Measure(tell metrics.Tell, s wire.ManagerState) {
	tell(answersFamily, metrics.Bool(s.Answers))
	tell(leaderFamily, metrics.Bool(s.Holds))
	tell(streamingFamily, metrics.Bool(s.Streaming))
	tell(standbyFamily, metrics.Bool(s.Synchronous))
	tell(waitsFamily, metrics.Bool(s.Waits))
	tell(pauseFamily, metrics.Bool(s.Paused))
	if s.Timeline == 0 {
		return
	}
	tell(timelineFamily, float64(s.Timeline))
	for position, at := range map[string]uint64{"written": s.Written, "received": s.Received, "applied": s.Applied} {
		if at > 0 {
			tell(logFamily, float64(at), position)
		}
	}
}
