package agent

import (
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
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
	writerFamily   = metrics.Gauge("replab_agent_group_writer", "1 for the member that has the writes, by this agent's account; absent without a group.", "writer")
	primaryFamily  = metrics.Gauge("replab_agent_group_primary_component", "1 while this member's part of the group may commit; absent while the server does not answer.")
	syncedFamily   = metrics.Gauge("replab_agent_group_synced", "1 while this member is in step with the group; absent while the server does not answer.")
	membersFamily  = metrics.Gauge("replab_agent_group_members", "Servers connected with this member, including itself; absent while the server does not answer.")
	sequenceFamily = metrics.Counter("replab_agent_group_transactions_total", "Transactions of the group that this member has committed; absent while the server does not answer.")
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

// lookInterval is the time between two looks at the server.
const lookInterval = 200 * time.Millisecond

// watcher looks at what the server says of its group.
type watcher struct {
	watch.Watcher[engine.GroupLook]
}

func newWatcher(finder *proc.Finder, client engine.Member) *watcher {
	var stable Stability
	return &watcher{watch.Watcher[engine.GroupLook]{Finder: finder, Question: client.Group, Interval: lookInterval, Seen: func(a *watch.Answer[engine.GroupLook]) {
		if a.Err != nil {
			stable.Silent()
			return
		}
		a.Value.StableMilliseconds = stable.Follow(fmt.Sprint(a.Of), a.Value, a.At).Milliseconds()
	}}}
}

// Look implements Server.
func (w *watcher) Look() (Look, error) {
	server, err := w.Finder.Find()
	if err != nil {
		return Look{}, err
	}
	a := w.Last()
	if err := a.Stands(server, time.Now()); err != nil {
		return Look{Server: server.ID()}, err
	}
	return Look{Server: server.ID(), View: a.Value.GroupView, Asked: a.Asked}, nil
}

// Stability is for how long a server has told the same of its group. It is pure.
type Stability struct {
	told  string
	since time.Time
}

// Follow takes what the server, of which this is the process, has said at a moment. What a server that is apart still applies is a change.
func (s *Stability) Follow(process string, l engine.GroupLook, at time.Time) time.Duration {
	told := fmt.Sprint(process, l.Primary, l.Component, slices.Sorted(slices.Values(l.Servers)))
	if !l.Primary {
		told = fmt.Sprint(told, l.Position)
	}
	if told != s.told || s.since.IsZero() || !l.Primary && l.Pending > 0 {
		*s = Stability{told, at}
	}
	return at.Sub(s.since)
}

// Silent notes that the server has not answered: what it said before may have changed and changed back.
func (s *Stability) Silent() { *s = Stability{} }
