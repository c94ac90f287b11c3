package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/durable"
	"replab.dev/internal/wire"
)

// kept bounds how many of each are kept, so that nodes that never come to rest fill no disk.
const kept = 1000

// note is what an agent knows of its node beyond its own life.
type note struct {
	Terms []wire.WriterTerm `json:"terms,omitempty"`
	// Writing is the server's process of the last term while that lasts, else "".
	Writing string `json:"writing,omitempty"`
	// Leader was the last known to have had the writes, this node or another, and Timeline is the latest one that was seen of it or of
	// those that follow it.
	Leader   string `json:"leader,omitempty"`
	Timeline int64  `json:"timeline,omitempty"`
	// Standby is the server's process that answered last as a standby, and Promoted when it was first seen to be one no more, the zero time
	// while it is one.
	Standby  string    `json:"-"`
	Promoted time.Time `json:"-"`
	// Server is the server's process that was seen last.
	Server string `json:"server,omitempty"`
	// Was tells that the node was once in its place.
	Was      bool                  `json:"was,omitempty"`
	Absences []wire.ManagerAbsence `json:"absences,omitempty"`
	// CopyingSince is when the node was first seen to become the copy that it still is to become.
	CopyingSince *metav1.MicroTime `json:"copyingSince,omitempty"`
	Switchovers  []wire.Switchover `json:"switchovers,omitempty"`
	// Backing is since when a node that is noted as away has been seen in its place, the zero time where it was not in the last look.
	Backing time.Time `json:"-"`
}

// keeper keeps a note in a file on the node's volume.
type keeper struct {
	file string
	note note
}

func openKeeper(stateDir string) (*keeper, error) {
	k := &keeper{file: filepath.Join(stateDir, "manager.json")}
	text, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of the node: %w", err)
	}
	if err := json.Unmarshal(text, &k.note); err != nil {
		return nil, fmt.Errorf("read what is known of the node, %s: %w", k.file, err)
	}
	return k, nil
}

// change makes a change last, if it is one. The old note stands where that fails.
func (k *keeper) change(f func(*note)) error {
	fresh := k.note
	fresh.Terms, fresh.Absences = slices.Clone(k.note.Terms), slices.Clone(k.note.Absences)
	fresh.Switchovers = slices.Clone(k.note.Switchovers)
	f(&fresh)
	if reflect.DeepEqual(fresh, k.note) {
		return nil
	}
	fresh.Terms, fresh.Absences, fresh.Switchovers = last(fresh.Terms), last(fresh.Absences), last(fresh.Switchovers)
	text, err := json.Marshal(fresh)
	if err != nil {
		return fmt.Errorf("keep what is known of the node: %w", err)
	}
	if err := durable.WriteFile(k.file, text, 0o644); err != nil {
		return fmt.Errorf("keep what is known of the node: %w", err)
	}
	k.note = fresh
	return nil
}

func last[T any](all []T) []T { return all[max(0, len(all)-kept):] }
