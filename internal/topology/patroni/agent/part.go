// Package agent is the agent's part beside a server that a manager runs, which decides with the other nodes' managers which node takes the writes.
// The agent decides nothing. It watches the server and the manager, and keeps when the node was the writer and when it was out of its place. It
// asks the manager to switch over and to pause.
package agent

import (
	"errors"
	"fmt"
	"time"

	"replab.dev/internal/agent/part"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
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
	answersFamily   = metrics.Gauge("replab_agent_manager_up", "1 while the server's manager answers; absent without a manager.")
	leaderFamily    = metrics.Gauge("replab_agent_manager_leader", "1 while this node holds the leader's lock; absent without a manager.")
	streamingFamily = metrics.Gauge("replab_agent_manager_streaming", "1 while the server is a standby that receives a server's log; absent without a manager.")
	standbyFamily   = metrics.Gauge("replab_agent_manager_synchronous", "1 while commits may wait for this node as a standby, by the managers' account; absent without a manager.")
	waitsFamily     = metrics.Gauge("replab_agent_manager_commits_wait", "1 while commits on the server wait for standbys; absent without a manager.")
	pauseFamily     = metrics.Gauge("replab_agent_manager_paused", "1 while the managers are paused; absent without a manager.")
	timelineFamily  = metrics.Gauge("replab_agent_manager_timeline", "Timeline that the server writes or receives; absent while the server does not answer.")
	logFamily       = metrics.Counter("replab_agent_manager_log_bytes_total", "Position in the log: written on a writer, received and applied on a standby; absent while the server does not answer.", "position")
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

const (
	// LookInterval is the time between two looks at the server: when it became writable is known to this, on a machine that is not busy.
	LookInterval = 50 * time.Millisecond
	freshness    = watch.Freshness
)

// Look is what is known of the server at a moment. At, Asked, Server and Position are as in Observation.
type Look struct {
	At       time.Time
	Asked    time.Time
	Server   string
	Position *engine.ServerPosition
	Why      string // Position is nil
}

// Watcher looks at the node's server again and again.
type Watcher struct {
	watch.Watcher[engine.ServerPosition]
}

// NewWatcher looks at nothing yet.
func NewWatcher(finder *proc.Finder, client engine.Positioned) *Watcher {
	return &Watcher{watch.Watcher[engine.ServerPosition]{Finder: finder, Question: client.Position, Interval: LookInterval}}
}

// Look implements Server. It does not wait for the server.
func (w *Watcher) Look() (Look, error) {
	server, err := w.Finder.Find()
	now := time.Now()
	if errors.Is(err, proc.ErrNone) {
		return Look{At: now, Why: err.Error()}, nil
	}
	if err != nil {
		return Look{}, err
	}
	return lookOf(server, w.Last(), now), nil
}

func lookOf(server proc.Process, a watch.Answer[engine.ServerPosition], now time.Time) Look {
	if err := a.Stands(server, now); err != nil {
		return Look{At: now, Server: server.ID(), Why: err.Error()}
	}
	return Look{At: a.At, Asked: a.Asked, Server: server.ID(), Position: &a.Value}
}

// Observation is what is known of a node at a moment.
type Observation struct {
	// At is when the server answered, or was found to be gone, by the wall clock.
	At time.Time
	// Asked is when the question for Position was sent: what the answer says was so at a moment between Asked and At.
	Asked time.Time
	// First observation of this agent. When a change since an earlier agent's last observation happened is unknown.
	First bool
	// Server is its process, by proc.Process.ID; "" while none runs.
	Server string
	// Position is nil while the server does not answer.
	Position *engine.ServerPosition
	// Holds, Leader and LeaderTimeline are the manager's last answers. Holds is true only while the answer stands. Leader, asked for at
	// LeaderAsked, may be old; it is "" for none. LeaderTimeline is 0 where it is unknown.
	Holds          bool
	Leader         string
	LeaderTimeline int64
	LeaderAsked    time.Time
	// Answers: the manager answered within the last second. Copying is from that answer.
	Answers bool
	Copying bool // it makes the node a copy of another one
	// Unanswered: no server has answered this agent yet. Untold: its manager has not.
	Unanswered, Untold bool
}

// writes tells whether the node takes the writes.
func (s Observation) writes() bool { return s.Holds && s.writable() }

func (s Observation) writable() bool { return s.Position != nil && s.Position.Writable }

// inPlace tells whether the node has its part: it takes the writes, or streams on the timeline of the one that does. News of a later
// timeline reach the server before its manager.
func (s Observation) inPlace() bool {
	return s.writes() || s.Position != nil && s.Position.Streaming && s.Position.Timeline >= s.LeaderTimeline
}
