package group

import (
	"fmt"
	"path/filepath"
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
	Resigned  bool                 `json:"resigned,omitempty"`
	Terms     []wire.WriterTerm    `json:"terms,omitempty"`
	Transfers []wire.StateTransfer `json:"transfers,omitempty"`
	// Writer was the last member that was taken for the writer.
	Writer string `json:"writer,omitempty"`
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
	f(&fresh)
	fresh.Terms, fresh.Transfers = last(fresh.Terms), last(fresh.Transfers)
	if err := put(m.file, fresh); err != nil {
		return fmt.Errorf("keep what is known of the group: %w", err)
	}
	m.note = fresh
	return nil
}

func last[T any](all []T) []T { return all[max(0, len(all)-kept):] }

// turn notes who the writer is from now on, by which a term of this member may begin or end.
func (n *memoryNote) turn(self, writer string, noticed, now time.Time) {
	open := len(n.Terms) > 0 && n.Terms[len(n.Terms)-1].To == nil
	switch {
	case open && writer != self:
		t := metav1.NewMicroTime(now)
		n.Terms[len(n.Terms)-1].To = &t
	case !open && writer == self:
		term := wire.WriterTerm{From: metav1.NewMicroTime(now), After: n.Writer}
		if n.Writer != "" && n.Writer != self {
			at := metav1.NewMicroTime(noticed)
			term.NoticedAt = &at
		}
		n.Terms = append(n.Terms, term)
	}
	if writer != "" {
		n.Writer = writer
	}
}
