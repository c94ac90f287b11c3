package agent

import (
	"fmt"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/wire"
)

// NewPart implements part.Make for nodes whose servers form a group.
func NewPart(n part.Node) (part.Part, error) {
	if n.Config.Group == nil {
		return nil, nil
	}
	client, ok := n.Client.(engine.Member)
	if !ok {
		return nil, fmt.Errorf("engine %s knows no groups, and the configuration names one", n.Config.Engine)
	}
	return NewMember(*n.Config.Group, n.Name, n.Config.StateDir, n.Config.RunDir, newWatcher(n.Server, client), client)
}

// Describe implements part.Part.
func (m *Member) Describe(state *wire.NodeState) error {
	s, err := m.State()
	state.Group = &s
	return err
}

var (
	writerFamily   = metrics.Gauge("replab_agent_group_writer", "1 for the member that this agent takes for the one with the writes; absent where servers form no group.", "writer")
	primaryFamily  = metrics.Gauge("replab_agent_group_primary_component", "1 while the members that are connected with this one may commit; absent while the server does not answer.")
	syncedFamily   = metrics.Gauge("replab_agent_group_synced", "1 while this member has what the others have; absent while the server does not answer.")
	membersFamily  = metrics.Gauge("replab_agent_group_members", "Servers that this member is connected with, its own included; absent while the server does not answer.")
	sequenceFamily = metrics.Counter("replab_agent_group_transactions_total", "Transactions of the group's history that this member has committed; absent while the server does not answer.")
)

// Families of a member's metrics.
func Families() []*metrics.Family {
	return []*metrics.Family{writerFamily, primaryFamily, syncedFamily, membersFamily, sequenceFamily}
}

// Families implements part.Measured.
func (*Member) Families() []*metrics.Family { return Families() }

// Measure implements part.Measured.
func (m *Member) Measure(tell metrics.Tell) {
	if s, err := m.State(); err == nil {
		Measure(tell, s)
	}
}

// Measure tells the metrics of a member's state.
func Measure(tell metrics.Tell, s wire.GroupState) {
	if s.Leader != "" {
		tell(writerFamily, 1, s.Leader)
	}
	if v := s.View; v != nil {
		tell(primaryFamily, metrics.Bool(v.Primary))
		tell(syncedFamily, metrics.Bool(v.Synced))
		tell(membersFamily, float64(len(v.Servers)))
		tell(sequenceFamily, float64(v.Position.Sequence))
	}
}
