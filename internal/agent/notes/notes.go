// Package notes keeps documents in files. A note that is saved outlives a crash of its process, and of the machine where its folder does.
package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"replab.dev/internal/atomicfile"
)

// version of the files' format.
const version = 1

// File holds one document.
type File[T any] struct {
	Path string
	// Most bounds what is read of a file that others may have written, in bytes. 0: no limit.
	Most int64
}

type content[T any] struct {
	Version int `json:"version"`
	Note    T   `json:"note"`
}

// Load returns nil without a file. A file that cannot be read is an error, and never taken for none.
func (f File[T]) Load() (*T, error) {
	info, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && f.Most > 0 && info.Size() > f.Most {
		err = fmt.Errorf("%s has %d bytes, which is no note", f.Path, info.Size())
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(f.Path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed a moment ago
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read a note: %w", err)
	}
	var c content[T]
	if err = json.Unmarshal(text, &c); err == nil && c.Version != version {
		err = fmt.Errorf("its version is %d and this program reads version %d", c.Version, version)
	}
	if err != nil {
		return nil, fmt.Errorf("read the note %s: %w; remove the file to go on without it", f.Path, err)
	}
	return &c.Note, nil
}

// Save replaces the document. The folder must exist. The document before stands where saving fails.
func (f File[T]) Save(note T) error {
	text, err := json.Marshal(content[T]{version, note})
	if err == nil {
		err = atomicfile.WriteFile(f.Path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("save the note %s: %w", f.Path, err)
	}
	return nil
}

// Remove removes the document; there may be none.
func (f File[T]) Remove() error {
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove a note: %w", err)
	}
	return atomicfile.SyncDir(filepath.Dir(f.Path))
}

// suffix tells notes from other files in a folder.
const suffix = ".json"

// Folder holds documents by their names.
type Folder[T any] struct{ Dir string }

// File of one document.
func (d Folder[T]) File(name string) File[T] {
	return File[T]{Path: filepath.Join(d.Dir, name+suffix)}
}

// Save replaces one document. It makes the folder where there is none.
func (d Folder[T]) Save(name string, note T) error {
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of notes: %w", err)
	}
	return d.File(name).Save(note)
}

// Load returns all documents in the order of their names.
func (d Folder[T]) Load() ([]T, error) {
	entries, err := os.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	var all []T
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), suffix)
		if !is {
			continue
		}
		one, err := d.File(name).Load()
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	return all, nil
}

// Kept is a document that is changed only together with its file. Changes must not overlap.
type Kept[T interface{ Clone() T }] struct {
	file File[T]
	note T
}

// Open takes up what the file holds, the zero document without one.
func Open[T interface{ Clone() T }](path string) (*Kept[T], error) {
	k := &Kept[T]{file: File[T]{Path: path}}
	note, err := k.file.Load()
	if note != nil {
		k.note = *note
	}
	return k, err
}

// Note is the document as it was saved last. It is only to be read.
func (k *Kept[T]) Note() T { return k.note }

// Change saves what the function makes of the document, if that differs. The document stays as it was where saving fails.
func (k *Kept[T]) Change(change func(*T)) error {
	fresh := k.note.Clone()
	change(&fresh)
	if reflect.DeepEqual(fresh, k.note) {
		return nil
	}
	if err := k.file.Save(fresh); err != nil {
		return err
	}
	k.note = fresh
	return nil
}

// Hold keeps a server from being started: the agent puts it, the start wrapper waits while it stands. It outlives container and pod, and has
// its end in it, so that the server comes back on time even without an agent.
type Hold struct {
	Fault string     `json:"fault"`           // name of the fault that it belongs to
	Until *time.Time `json:"until,omitempty"` // absent: until it is removed
}

// PutHold writes a hold, or replaces the one of the same fault.
func PutHold(dir string, h Hold) error { return holds(dir).Save(h.Fault, h) }

// RemoveHold ends the hold of a fault; there may be none.
func RemoveHold(dir, fault string) error { return holds(dir).File(fault).Remove() }

// StandingHolds returns the holds that are not over at the given time, by name.
func StandingHolds(dir string, now time.Time) ([]Hold, error) {
	all, err := holds(dir).Load()
	return slices.DeleteFunc(all, func(h Hold) bool { return h.Until != nil && !now.Before(*h.Until) }), err
}

func holds(dir string) Folder[Hold] { return Folder[Hold]{Dir: dir} }
