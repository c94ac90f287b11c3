package agent

import (
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// note is what an agent knows of its member beyond its own life.
type note struct {
	history.History
	Resigned  int64                `json:"resigned,omitempty"` // as in wire.GroupState
	Transfers []wire.StateTransfer `json:"transfers,omitempty"`
}

// Clone returns a note that can be changed without changing this one.
func (n note) Clone() note {
	n.History, n.Transfers = n.History.Clone(), slices.Clone(n.Transfers)
	return n
}

func openNote(stateDir string) (*notes.Kept[note], error) {
	return notes.Open[note](filepath.Join(stateDir, "group.json"))
}

// turn notes the writer from now on, which may begin or end a term of this member. asked is the switchover that caused it, "" for none.
// noticed is when the switchover was asked for, or when the writer before was lost.
func (n *note) turn(self, writer, asked string, noticed, now time.Time) {
	open := len(n.Terms) > 0 && n.Terms[len(n.Terms)-1].To == nil
	switch {
	case open && writer != self:
		n.EndTerm(now)
	case !open && writer == self:
		term := wire.WriterTerm{From: metav1.NewMicroTime(now), After: n.Writer}
		if n.Writer != "" && n.Writer != self {
			at := metav1.NewMicroTime(noticed)
			term.NoticedAt, term.Switchover = &at, asked
		}
		n.BeginTerm(term)
	}
	if writer != "" {
		n.Writer = writer
	}
}

// counts notes for a term that has just begun whether the group still counts the writer before.
func (n *note) counts(own *wire.GroupView) {
	if i := len(n.Terms) - 1; i >= 0 && n.Terms[i].To == nil && own != nil {
		n.Terms[i].AfterCounts = slices.Contains(own.Members, n.Terms[i].After)
	}
}

// move notes whether the member is in its place.
func (n *note) move(inPlace bool, now time.Time) {
	if !inPlace {
		n.Leave(now)
		return
	}
	a := n.Back(now)
	if last := len(n.Transfers) - 1; a != nil && last >= 0 && n.Transfers[last].BeganAt.After(a.LeftAt.Time) && n.Transfers[last].EndedAt != nil {
		t := n.Transfers[last]
		a.Resync = &v1alpha1.ResyncStatus{Method: t.Kind, DurationMilliseconds: t.Milliseconds, NetworkReceivedBytes: t.NetworkReceivedBytes}
	}
}

// noteMost bounds what the agent reads of what the server's container has written, in bytes.
const noteMost = 1 << 20

// Notes are what a node's start wrapper tells the agent beside it.
type Notes struct {
	Start     notes.File[wire.GroupStart]      // how far the wrapper is
	Transfers notes.File[[]wire.StateTransfer] // all since the pod began
}

// NotesIn are those in a folder of both, which goes with the pod.
func NotesIn(dir string) Notes {
	return Notes{
		Start:     notes.File[wire.GroupStart]{Path: filepath.Join(dir, "group-start.json"), Most: noteMost},
		Transfers: notes.File[[]wire.StateTransfer]{Path: filepath.Join(dir, "group-transfers.json"), Most: noteMost},
	}
}

// AllTransfers are those that the wrapper has noted.
func (n Notes) AllTransfers() ([]wire.StateTransfer, error) {
	all, err := n.Transfers.Load()
	if all == nil {
		return nil, err
	}
	return *all, err
}

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
