// Package agent is the agent's part beside a server that a manager runs, which decides with the other nodes' managers who takes the writes.
// The agent decides nothing. It looks at both, and keeps what it saw: when the node was the writer and when it was not in its place. It has
// the manager switch over and pause.
package agent

import (
	"time"

	"replab.dev/internal/engine"
)

// Observation is what is known of a node at a moment.
type Observation struct {
	// At is when the server answered, or was found to be gone, by the wall clock.
	At time.Time
	// First: nothing was seen before by this agent. What has changed since another one saw the node did so at a time that nobody knows.
	First bool
	// Server is its process, by proc.Process.ID; "" while none runs.
	Server string
	// Position is nil while the server does not answer.
	Position *engine.ServerPosition
	// Holds, Leader and LeaderTimeline are what the manager has told last: of the lock as far as that still stands, of the leader whenever that
	// was, when asked at LeaderAsked. Leader is "" for none, LeaderTimeline 0 where it is not known.
	Holds          bool
	Leader         string
	LeaderTimeline int64
	LeaderAsked    time.Time
	// Answers: the manager has told what follows a moment ago.
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
