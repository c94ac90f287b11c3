package agent

import (
	"time"

	"replab.dev/internal/wire"
)

// chase tells whether a member has committed what the others in its component had. It is told again and again what they said, and
// compares with what the member says of itself in answer to a question that was asked later. While none of them that serves has said
// anything, nobody knows how far there is to go.
type chase struct {
	component string
	goal      int64 // to have come as far as this
	known     bool  // one that serves has said so, or there is no other
	since     time.Time
	caught    bool
}

// follow takes a view of the member, in answer to a question asked at the given time, and what has been heard of the others until now.
func (c *chase) follow(own *wire.GroupView, asked time.Time, heard []Heard, now time.Time) {
	if own == nil || !own.Primary || !own.Synced {
		*c = chase{}
		return
	}
	if c.component == own.Component && !asked.After(c.since) {
		return
	}
	c.caught = c.component == own.Component && c.known && rank(own.Position) >= c.goal
	c.component, c.since, c.goal, c.known = own.Component, now, 0, len(own.Members) == 1
	for _, h := range heard {
		if g := h.group(); g != nil && g.View.Component == own.Component {
			c.goal, c.known = max(c.goal, rank(g.View.Position)), c.known || g.View.Serves
		}
	}
}
