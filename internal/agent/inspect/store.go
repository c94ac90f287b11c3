package inspect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"k8s.io/utils/ptr"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/atomicfile"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// ErrUnknown says that no inspection has read any ids.
var ErrUnknown = errors.New("no inspection has read any rows")

// store keeps inspections in a folder of the agent's: a list, and one file with the ids that all of them together have found.
type store struct {
	dir string

	mu   sync.Mutex
	list *notes.Kept[list]
	ids  *int64 // in the file; nil without one
}

type list []wire.Inspection

func (l list) Clone() list { return slices.Clone(l) }

func openStore(stateDir string) (*store, error) {
	s := &store{dir: filepath.Join(stateDir, "inspections")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the inspections: %w", err)
	}
	held, err := s.held()
	switch {
	case err == nil:
		s.ids = ptr.To(held.Count())
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	s.list, err = notes.Open[list](filepath.Join(s.dir, "list.json"))
	return s, err
}

func (s *store) idsFile() string { return filepath.Join(s.dir, "held.ids") }

// held are the ids that all inspections have found so far; fs.ErrNotExist when none has read any.
func (s *store) held() (ledger.Bitmap, error) {
	f, err := os.Open(s.idsFile())
	if err != nil {
		return ledger.Bitmap{}, fmt.Errorf("read what was found so far: %w", err)
	}
	defer f.Close()
	return ledger.ReadBitmap(bufio.NewReader(f))
}

// get returns the inspection with this id, nil without one.
func (s *store) get(id string) *wire.Inspection {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.list.Note() {
		if i.ID == id {
			return &i
		}
	}
	return nil
}

func (s *store) all() wire.Inspections {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Inspections{Inspections: append([]wire.Inspection{}, s.list.Note()...), WriteIDs: s.ids}
}

// put adds an inspection, or replaces the one with its id. held are the ids of all of them, nil for what they were. They are written
// before the list: an inspection that is not in it is done again.
func (s *store) put(i wire.Inspection, held *ledger.Bitmap) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held != nil {
		if err := atomicfile.Write(s.idsFile(), held, 0o600); err != nil {
			return fmt.Errorf("keep the ids of inspection %s: %w", i.ID, err)
		}
		s.ids = ptr.To(held.Count())
	}
	return s.list.Change(func(all *list) {
		if k := slices.IndexFunc(*all, func(known wire.Inspection) bool { return known.ID == i.ID }); k >= 0 {
			(*all)[k] = i
		} else {
			*all = append(*all, i)
		}
	})
}

// open the file with the ids, as they were written.
func (s *store) open() (io.ReadCloser, error) {
	f, err := os.Open(s.idsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	return f, err
}
