// Package agent is the agent's part beside a server that a manager runs, which decides with the other nodes' managers who takes the writes.
// The agent decides nothing. It watches the server and the manager, and keeps when the node was the writer and when it was out of its place. It
// asks the manager to switch over and to pause.
package agent

import (
	"time"

	"replab.dev/internal/engine"
)

// Observation is what is known of a node at a moment.
type Observation struct {
	// At is when the server answered, or was found to be gone, by the wall clock.
	At time.Time
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
