package agent

import (
	"time"

	"replab.dev/internal/wire"
)

// catchUp decides whether a member has committed what the other members of its component had. It compares their positions with the member's
// own position of a later question. While no serving member has told its position, the goal is unknown.
type catchUp struct {
	component string
	goal      int64 // sequence number to reach
	known     bool  // goal is: a serving member told it, or there is no other member
	since     time.Time
	caught    bool
}

// follow takes the member's own view, of a question that was asked at the given time, and the other members' answers until now.
func (c *catchUp) follow(own *wire.GroupView, asked time.Time, answers []Answer, now time.Time) {
	if own == nil || !own.Primary || !own.Synced {
		*c = catchUp{}
		return
	}
	if c.component == own.Component && !asked.After(c.since) {
		return
	}
	c.caught = c.component == own.Component && c.known && rank(own.Position) >= c.goal
	c.component, c.since, c.goal, c.known = own.Component, now, 0, len(own.Members) == 1
	for _, h := range answers {
		if g := h.group(); g != nil && g.View.Component == own.Component {
			c.goal, c.known = max(c.goal, rank(g.View.Position)), c.known || g.View.Serves
		}
	}
}
