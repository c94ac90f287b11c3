package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"replab.dev/internal/durable"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// ErrUnknown says that there is no inspection with ids under an id.
var ErrUnknown = errors.New("no inspection with this id has read any rows")

// store keeps inspections in a folder of the agent's: a list, and a file with the ids of each.
type store struct {
	dir string

	mu   sync.Mutex
	list []wire.Inspection
}

func openStore(stateDir string) (*store, error) {
	s := &store{dir: filepath.Join(stateDir, "inspections")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the inspections: %w", err)
	}
	text, err := os.ReadFile(s.listFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the inspections: %w", err)
	}
	if err := json.Unmarshal(text, &s.list); err != nil {
		return nil, fmt.Errorf("read the inspections %s: %w", s.listFile(), err)
	}
	return s, nil
}

func (s *store) listFile() string         { return filepath.Join(s.dir, "list.json") }
func (s *store) idsFile(id string) string { return filepath.Join(s.dir, id+".ids") }

// get returns the inspection with this id, nil without one.
func (s *store) get(id string) *wire.Inspection {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.list {
		if i.ID == id {
			return &i
		}
	}
	return nil
}

func (s *store) all() []wire.Inspection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wire.Inspection{}, s.list...)
}

// put adds an inspection, or replaces the one with its id. Ids come before the list has it, so that no inspection lacks them.
func (s *store) put(i wire.Inspection, ids *ledger.Bitmap) error {
	if ids != nil {
		var file bytes.Buffer
		if _, err := ids.WriteTo(&file); err != nil {
			return fmt.Errorf("keep the ids of inspection %s: %w", i.ID, err)
		}
		if err := durable.WriteFile(s.idsFile(i.ID), file.Bytes(), 0o600); err != nil {
			return fmt.Errorf("keep the ids of inspection %s: %w", i.ID, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, found := append([]wire.Inspection(nil), s.list...), false
	for k := range fresh {
		if fresh[k].ID == i.ID {
			fresh[k], found = i, true
		}
	}
	if !found {
		fresh = append(fresh, i)
	}
	text, err := json.Marshal(fresh)
	if err != nil {
		return fmt.Errorf("keep inspection %s: %w", i.ID, err)
	}
	if err := durable.WriteFile(s.listFile(), text, 0o600); err != nil {
		return fmt.Errorf("keep inspection %s: %w", i.ID, err)
	}
	s.list = fresh
	return nil
}

// ids of an inspection, as they were written.
func (s *store) ids(id string) ([]byte, error) {
	i := s.get(id)
	if i == nil || i.WriteIDs == nil {
		return nil, ErrUnknown
	}
	return os.ReadFile(s.idsFile(id))
}
