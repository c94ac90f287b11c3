package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// kept bounds how many terms and transfers are kept, so that a group that never comes to rest fills no disk.
const kept = 1000

// memory is what an agent knows of its member beyond its own life: a file on the node's volume.
type memory struct {
	file string
	note memoryNote
}

type memoryNote struct {
	Resigned    int64                `json:"resigned,omitempty"` // as in wire.GroupState
	Switchovers []wire.Switchover    `json:"switchovers,omitempty"`
	Terms       []wire.WriterTerm    `json:"terms,omitempty"`
	Transfers   []wire.StateTransfer `json:"transfers,omitempty"`
	Absences    []wire.GroupAbsence  `json:"absences,omitempty"`
	// Was tells that the member was once in its place.
	Was bool `json:"was,omitempty"`
	// Writer was the last member that was taken for the writer.
	Writer string `json:"writer,omitempty"`
	// Server is the server's process that was seen last.
	Server string `json:"server,omitempty"`
}

func openMemory(stateDir string) (*memory, error) {
	m := &memory{file: filepath.Join(stateDir, "group.json")}
	_, err := get(m.file, &m.note)
	return m, err
}

// change makes a change of the note last. The old note stands where that fails.
func (m *memory) change(f func(*memoryNote)) error {
	fresh := m.note
	fresh.Terms = append([]wire.WriterTerm(nil), m.note.Terms...)
	fresh.Transfers = append([]wire.StateTransfer(nil), m.note.Transfers...)
	fresh.Absences = append([]wire.GroupAbsence(nil), m.note.Absences...)
	fresh.Switchovers = append([]wire.Switchover(nil), m.note.Switchovers...)
	f(&fresh)
	fresh.Terms, fresh.Transfers = last(fresh.Terms), last(fresh.Transfers)
	fresh.Absences, fresh.Switchovers = last(fresh.Absences), last(fresh.Switchovers)
	if err := put(m.file, fresh); err != nil {
		return fmt.Errorf("keep what is known of the group: %w", err)
	}
	m.note = fresh
	return nil
}

// saw notes the server's process, "" for none.
func (m *memory) saw(server string) error {
	if server == "" || server == m.note.Server {
		return nil
	}
	return m.change(func(n *memoryNote) { n.Server = server })
}

func last[T any](all []T) []T { return all[max(0, len(all)-kept):] }

// turn notes who the writer is from now on, by which a term of this member may begin or end. asked is the switchover that it comes
// of, "" when nobody has asked for it; noticed when that was, or when the writer before was seen to be none any more.
func (n *memoryNote) turn(self, writer, asked string, noticed, now time.Time) {
	open := len(n.Terms) > 0 && n.Terms[len(n.Terms)-1].To == nil
	switch {
	case open && writer != self:
		t := metav1.NewMicroTime(now)
		n.Terms[len(n.Terms)-1].To = &t
	case !open && writer == self:
		term := wire.WriterTerm{From: metav1.NewMicroTime(now), After: n.Writer}
		if n.Writer != "" && n.Writer != self {
			at := metav1.NewMicroTime(noticed)
			term.NoticedAt, term.Switchover = &at, asked
		}
		n.Terms = append(n.Terms, term)
	}
	if writer != "" {
		n.Writer = writer
	}
}

// counts notes whether the writer before is still one of the group's members, where a term has just begun.
func (n *memoryNote) counts(own *wire.GroupView) {
	if i := len(n.Terms) - 1; i >= 0 && n.Terms[i].To == nil && own != nil {
		n.Terms[i].AfterCounts = slices.Contains(own.Members, n.Terms[i].After)
	}
}

// away tells whether the member is noted as not in its place.
func (n *memoryNote) away() bool {
	return len(n.Absences) > 0 && n.Absences[len(n.Absences)-1].BackAt == nil
}

// moved tells whether the member has left its place or come back to it.
func (n *memoryNote) moved(inPlace bool) bool {
	return inPlace && (!n.Was || n.away()) || !inPlace && n.Was && !n.away()
}

// move notes that.
func (n *memoryNote) move(inPlace bool, now time.Time) {
	at := metav1.NewMicroTime(now)
	switch {
	case !inPlace:
		n.Absences = append(n.Absences, wire.GroupAbsence{LeftAt: at})
	case n.away():
		a := &n.Absences[len(n.Absences)-1]
		a.BackAt = &at
		if last := len(n.Transfers) - 1; last >= 0 && n.Transfers[last].BeganAt.After(a.LeftAt.Time) && n.Transfers[last].EndedAt != nil {
			t := n.Transfers[last]
			a.Transfer = &t
		}
	}
	n.Was = true
}
