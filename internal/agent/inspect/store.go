package inspect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// Request is the wrapper's note of one start. It is replaced as the start goes on, and stands until the next one.
type Request struct {
	wire.Inspection
	// Socket of the server that runs alone; "" when there is nothing to read, or no longer.
	Socket string `json:"socket,omitempty"`
	// Final: nothing of it changes any more.
	Final bool `json:"final"`
	// Earlier are the starts before of which the agent has not said that it has kept them, as far as the wrapper knows them.
	Earlier []wire.Inspection `json:"earlier,omitempty"`
}

const (
	requestFile = "inspect.json"
	// answerFile and keptFile are no holds: they have not their suffix.
	answerFile = "inspected"
	keptFile   = "inspections-kept"
	// startsFile is the wrapper's own, on the node's volume: it outlives the pod.
	startsFile = "inspections.json"
	// startsMost bounds how many starts are told that the agent has not kept.
	startsMost = 100
	// noteMost bounds what is read of each, in bytes.
	noteMost = 1 << 16
)

// idForm is what an id looks like: the server's container writes it.
var idForm = regexp.MustCompile(`^[0-9]{1,20}$`)

// Socket of the server that runs alone.
func Socket(runDir string) string { return filepath.Join(runDir, "inspect.sock") }

// note is a file of the wrapper's or the agent's, which the other one reads.
func note[T any](dir, name string) notes.File[T] {
	return notes.File[T]{Path: filepath.Join(dir, name), Most: noteMost}
}

// Ask notes a start for the agent.
func Ask(runDir string, r Request) error { return note[Request](runDir, requestFile).Save(r) }

// Asked is the wrapper's last note, nil without one.
func Asked(runDir string) (*Request, error) {
	r, err := note[Request](runDir, requestFile).Load()
	if err != nil || r == nil {
		return nil, err
	}
	for _, i := range append([]wire.Inspection{r.Inspection}, r.Earlier...) {
		if !idForm.MatchString(i.ID) {
			return nil, fmt.Errorf("read the start wrapper's note of an inspection: %q is no id", i.ID)
		}
	}
	return r, nil
}

// Answer tells the wrapper that the agent has kept what it read.
func Answer(holdDir, id string) error { return tell(holdDir, answerFile, id) }

// Answered tells whether the agent has done so.
func Answered(holdDir, id string) (bool, error) {
	told, err := note[string](holdDir, answerFile).Load()
	return told != nil && *told == id, err
}

// Keep tells the wrapper that the agent has kept the start with this id and all before it.
func Keep(holdDir, id string) error { return tell(holdDir, keptFile, id) }

func tell(holdDir, name, id string) error {
	if err := os.MkdirAll(holdDir, 0o755); err != nil {
		return fmt.Errorf("tell the start wrapper of an inspection: %w", err)
	}
	return note[string](holdDir, name).Save(id)
}

// Unkept are the starts that the wrapper has noted in a folder of the node's volume and that the agent has not kept yet.
func Unkept(dir, holdDir string) ([]wire.Inspection, error) {
	starts, err := note[[]wire.Inspection](dir, startsFile).Load()
	if err != nil || starts == nil {
		return nil, err
	}
	kept, err := note[string](holdDir, keptFile).Load()
	if err != nil {
		return nil, err
	}
	last := slices.IndexFunc(*starts, func(i wire.Inspection) bool { return kept != nil && i.ID == *kept })
	return (*starts)[last+1:], nil
}

// NoteStarts notes them there. The first of many stays: that it was not inspected is enough to know.
func NoteStarts(dir string, starts []wire.Inspection) error {
	if over := len(starts) - startsMost; over > 0 {
		starts = slices.Delete(slices.Clone(starts), 1, 1+over)
	}
	return note[[]wire.Inspection](dir, startsFile).Save(starts)
}
