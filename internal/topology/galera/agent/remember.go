package agent

import (
	"time"

	"replab.dev/internal/wire"
)

// inPlace tells whether the member has its part in the group. Once it is out of it, it is back when it has what the others have.
func (m *Member) inPlace(v *wire.GroupView) bool {
	if v == nil || !v.Primary || !v.Serves {
		return false
	}
	return m.memory.note.Was && !m.memory.note.away() || v.Synced && m.chase.caught
}

// follow is the member that is taken for the writer, "" for none. Since when the one before is none, or is not heard of, is kept.
func (m *Member) follow(heard []Heard, now time.Time) string {
	writer, seen := "", true
	if m.writer >= 0 {
		writer = m.cfg.Members[m.writer].Name
		seen = m.writer == m.self || heard[m.writer].group() != nil
	}
	switch {
	case writer == m.memory.note.Writer && seen:
		m.lost = time.Time{}
	case m.lost.IsZero():
		m.lost = now
	}
	return writer
}

// tookOver is the member that says that it has the writes, and had them after this one, "" for none.
func (m *Member) tookOver(heard []Heard) string {
	for i, h := range heard {
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

// rememberTaker writes down that another member took over while this one had no agent: what this one noted of its own term is over then, and if it
// has the writes again, it does after that one.
func (m *Member) rememberTaker(anew bool, now time.Time) error {
	if m.taker == "" || anew {
		return nil
	}
	self := m.cfg.Members[m.self].Name
	err := m.memory.change(func(n *memoryNote) { n.turn(self, m.taker, "", now, now) })
	if err == nil {
		m.taker = ""
	}
	return err
}

// remember writes down what has changed since.
func (m *Member) remember(now time.Time, heard []Heard, transfers []wire.StateTransfer, own *wire.GroupView) error {
	inPlace := m.inPlace(own)
	note, writer, self := m.memory.note, m.follow(heard, now), m.cfg.Members[m.self].Name
	merged := merge(note.Transfers, transfers)
	open := len(note.Terms) > 0 && note.Terms[len(note.Terms)-1].To == nil
	turned := !m.cfg.WriteAll && (writer != "" && writer != note.Writer || open != (writer == self))
	ended := m.endedSwitchover(heard, now)
	if merged == nil && !turned && !note.moved(inPlace) && ended == nil {
		return nil
	}
	lost, asked := m.lost, ""
	if name, at := m.askedOf(note.Writer, heard); name != "" {
		lost, asked = at, name
	}
	return m.memory.change(func(n *memoryNote) {
		if merged != nil {
			n.Transfers = merged
		}
		if n.moved(inPlace) {
			n.move(inPlace, now)
		}
		if turned {
			n.turn(self, writer, asked, lost, now)
			n.counts(own)
		}
		if ended != nil {
			n.end(*ended)
		}
	})
}

// merge adds the transfers that a wrapper has noted to those that are known; nil when there is nothing new.
func merge(known, noted []wire.StateTransfer) []wire.StateTransfer {
	merged, changed := append([]wire.StateTransfer(nil), known...), false
	for _, n := range noted {
		at := -1
		for i, k := range merged {
			if k.BeganAt.Equal(&n.BeganAt) {
				at = i
			}
		}
		switch {
		case at < 0:
			merged, changed = append(merged, n), true
		case merged[at].EndedAt == nil && n.EndedAt != nil:
			merged[at], changed = n, true
		}
	}
	if !changed {
		return nil
	}
	return merged
}
