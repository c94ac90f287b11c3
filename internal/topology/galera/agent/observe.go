package agent

import (
	"slices"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/wire"
)

// inPlace tells whether the member has its part in the group. After an absence it must first have what the other members have.
func (m *Member) inPlace(v *wire.GroupView) bool {
	if v == nil || !v.Primary || !v.Serves {
		return false
	}
	past := m.kept.Note()
	return past.Was && past.Away() == nil || v.Synced && m.catchUp.caught
}

// follow returns the writer, "" for none. It keeps since when the writer before is lost, or does not answer.
func (m *Member) follow(answers []Answer, now time.Time) string {
	writer, seen := "", true
	if m.writer >= 0 {
		writer = m.cfg.Members[m.writer].Name
		seen = m.writer == m.self || answers[m.writer].group() != nil
	}
	switch {
	case writer == m.kept.Note().Writer && seen:
		m.lost = time.Time{}
	case m.lost.IsZero():
		m.lost = now
	}
	return writer
}

// tookOver is the member that says that it took the writes over from this one, "" for none.
func (m *Member) tookOver(answers []Answer) string {
	for i, h := range answers {
		g := h.group()
		if g == nil || !g.Writes || len(g.Terms) == 0 {
			continue
		}
		if last := g.Terms[len(g.Terms)-1]; last.To == nil && last.After == m.cfg.Members[m.self].Name {
			return m.cfg.Members[i].Name
		}
	}
	return ""
}

// rememberTaker notes that another member took over while this one had no agent. It ends this member's noted term. If this member takes the
// writes again, its new term comes after the other member's.
func (m *Member) rememberTaker(anew bool, now time.Time) error {
	if m.taker == "" || anew {
		return nil
	}
	self := m.cfg.Members[m.self].Name
	err := m.kept.Change(func(n *note) { n.turn(self, m.taker, "", now, now) })
	if err == nil {
		m.taker = ""
	}
	return err
}

// remember writes down what has changed since.
func (m *Member) remember(now time.Time, answers []Answer, transfers []wire.StateTransfer, look Look, own *wire.GroupView) error {
	inPlace := m.inPlace(own)
	before, writer, self := m.kept.Note().Writer, m.follow(answers, now), m.cfg.Members[m.self].Name
	lost, asked := m.lost, ""
	if name, at := m.askedOf(before, answers); name != "" {
		lost, asked = at, name
	}
	return m.kept.Change(func(n *note) {
		n.Transfers = merge(n.Transfers, transfers)
		n.move(inPlace, now)
		open := len(n.Terms) > 0 && n.Terms[len(n.Terms)-1].To == nil
		if !m.cfg.WriteAll && (writer != "" && writer != before || open != (writer == self)) {
			n.turn(self, writer, asked, lost, now)
			n.counts(own)
		}
		m.endSwitchover(n, answers, now)
		n.Saw(look.Server)
	})
}

// merge adds the transfers that a wrapper has noted to those that are known.
func merge(known, noted []wire.StateTransfer) []wire.StateTransfer {
	for _, n := range noted {
		i := slices.IndexFunc(known, func(k wire.StateTransfer) bool { return k.BeganAt.Equal(&n.BeganAt) })
		switch {
		case i < 0:
			known = history.Add(known, n)
		case known[i].EndedAt == nil && n.EndedAt != nil:
			known[i] = n
		}
	}
	return known
}
