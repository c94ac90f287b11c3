package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/wire"
)

// passing is for how long after a change of members the agents' views of it may differ.
const passingMilliseconds = 1000

// candidate is a member of the primary component that might take the writes.
type candidate struct {
	ordinal int
	state   *wire.GroupState
}

// Writer returns which of all members takes the writes as one of them sees it, -1 for none. It is told what it knows of itself, and of the
// others what they answered not long ago: one that has not answered, or that is not in its component, is passed over. So a part of the group
// that is in no primary component has no writer.
//
// It is the lowest number of those that are synced. Those that have resigned come after all of them, in the order of resigning, and one that
// serves without being synced, since it hands its data to another, only when there is no other.
//
// A member takes over from a writer before that its server still counts, -1 for none, only while most of those that it counts answer. Else it
// may well be itself that is cut off: its server believes in the others for as long as the group suspects none.
func Writer(members []wire.Node, self, before int, own *wire.GroupState, answers []Answer) int {
	if own.View == nil || !own.View.Primary || !own.View.Serves {
		return -1
	}
	candidates := []candidate{{self, own}}
	for i := range members {
		if g := answers[i].group(); i != self && g != nil && together(members[i].Name, *own.View, g.View) {
			candidates = append(candidates, candidate{i, g})
		}
	}
	first := slices.MinFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.behind(), b.behind()), cmp.Compare(a.state.Resigned, b.state.Resigned), cmp.Compare(a.ordinal, b.ordinal))
	}).ordinal
	counted := before >= 0 && before != self && slices.Contains(own.View.Members, members[before].Name)
	if first == self && counted && !amongMost(members, self, own.View, answers) {
		return before
	}
	return first
}

// amongMost tells whether most of the members that a server counts answer, itself among them.
func amongMost(members []wire.Node, self int, own *wire.GroupView, answers []Answer) bool {
	answer := 0
	for i, n := range members {
		if slices.Contains(own.Members, n.Name) && (i == self || answers[i].Err == nil && answers[i].State != nil) {
			answer++
		}
	}
	return 2*answer > len(own.Members)
}

// group is what a member's agent says of it, nil when it has not answered, or its server has not.
func (h Answer) group() *wire.GroupState {
	if h.Err != nil || h.State == nil || h.State.ServerPID == 0 || h.State.Group == nil || h.State.Group.View == nil {
		return nil
	}
	return h.State.Group
}

// together tells whether two members are in one primary component. Agents learn of a change at different moments: until it has passed
// their components may differ.
func together(name string, own wire.GroupView, other *wire.GroupView) bool {
	if !other.Primary || !other.Serves || own.Position.History != other.Position.History {
		return false
	}
	passing := min(own.StableMilliseconds, other.StableMilliseconds) < passingMilliseconds
	return own.Component == other.Component || passing && slices.Contains(own.Members, name)
}

func (c candidate) behind() int {
	if c.state.View.Synced {
		return 0
	}
	return 1
}

// switchoverMost is how long another member may take to have the writes.
const switchoverMost = 10 * time.Second

// SwitchOver has another member take the writes, by having this one resign. What was asked for under a name is asked for once. It stands, and is
// kept, when it returns nil; history.ErrRefused where this member does not take the writes, or where no other can.
func (m *Member) SwitchOver(name string) error {
	now := time.Now()
	answers := m.peers.standing(now)
	look, err := m.server.Look()
	if err != nil {
		return fmt.Errorf("%w: %w", history.ErrRefused, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	past := m.kept.Note()
	if fresh, err := past.New(name); !fresh {
		return err
	}
	number := past.Resigned
	for _, h := range answers {
		if h.State != nil && h.State.Group != nil {
			number = max(number, h.State.Group.Resigned)
		}
	}
	number++ // after all that have resigned before
	switch {
	case m.cfg.WriteAll:
		return fmt.Errorf("%w: every member takes writes", history.ErrRefused)
	case !m.writes:
		return fmt.Errorf("%w: this member does not take the writes: %s", history.ErrRefused, m.why)
	case Writer(m.cfg.Members, m.self, m.self, &wire.GroupState{View: &look.View, Resigned: number}, answers) == m.self:
		return fmt.Errorf("%w: no other member is known to be in step", history.ErrRefused)
	}
	return m.kept.Change(func(n *note) {
		n.Resigned = number
		n.Ask(name, m.cfg.Members[m.self].Name, now)
	})
}

// endSwitchover notes how the one that is under way has ended, if it has. It is done when another member says that it takes the writes. When
// none does in time, this one keeps them.
func (m *Member) endSwitchover(n *note, answers []Answer, now time.Time) {
	open := n.UnderWay()
	if open == nil {
		return
	}
	if i := m.writer; i >= 0 && i != m.self {
		if g := answers[i].group(); g != nil && g.Writes {
			n.End(now, wire.SwitchoverDone, m.cfg.Members[i].Name, "")
			return
		}
	}
	if now.Sub(open.RequestedAt.Time) >= switchoverMost {
		n.End(now, wire.SwitchoverFailed, "", fmt.Sprintf("no other member took the writes within %s", switchoverMost))
		n.Resigned = 0
	}
}

// askedOf is the switchover by which the last writer gives the writes up, and when it was asked for by this member's clock; "" for none.
func (m *Member) askedOf(writer string, answers []Answer) (name string, at time.Time) {
	i := slices.IndexFunc(m.cfg.Members, func(n wire.Node) bool { return n.Name == writer })
	if i < 0 || i == m.self || answers[i].group() == nil {
		return "", time.Time{}
	}
	all := answers[i].group().Switchovers
	if n := len(all); n > 0 && all[n-1].Outcome == "" {
		return all[n-1].Name, answers[i].At.Add(-time.Duration(all[n-1].AgeMilliseconds) * time.Millisecond)
	}
	return "", time.Time{}
}

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
