package agent

import (
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/wire"
)

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
