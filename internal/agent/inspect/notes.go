package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"replab.dev/internal/durable"
	"replab.dev/internal/wire"
)

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
	noteMost   = 1 << 16
)

// idForm is what an id looks like: the server's container writes it.
var idForm = regexp.MustCompile(`^[0-9]{1,20}$`)

// Socket of the server that runs alone.
func Socket(runDir string) string { return filepath.Join(runDir, "inspect.sock") }

// Ask notes a start for the agent.
func Ask(runDir string, r Request) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("note the inspection: %w", err)
	}
	return durable.WriteFile(filepath.Join(runDir, requestFile), text, 0o644)
}

// Asked is the wrapper's last note, nil without one.
func Asked(runDir string) (*Request, error) {
	text, err := read(filepath.Join(runDir, requestFile))
	if err != nil || text == nil {
		return nil, err
	}
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read the start wrapper's note of an inspection: %w", err)
	}
	for _, i := range append([]wire.Inspection{r.Inspection}, r.Earlier...) {
		if !idForm.MatchString(i.ID) {
			return nil, fmt.Errorf("read the start wrapper's note of an inspection: %q is no id", i.ID)
		}
	}
	return &r, nil
}

// Answer tells the wrapper that the agent has kept what it read.
func Answer(holdDir, id string) error {
	if err := os.MkdirAll(holdDir, 0o755); err != nil {
		return fmt.Errorf("tell that the inspection is done: %w", err)
	}
	return durable.WriteFile(filepath.Join(holdDir, answerFile), []byte(id), 0o644)
}

// Answered tells whether the agent has done so.
func Answered(holdDir, id string) (bool, error) {
	text, err := read(filepath.Join(holdDir, answerFile))
	return err == nil && strings.TrimSpace(string(text)) == id, err
}

// Keep tells the wrapper that the agent has kept the start with this id and all before it.
func Keep(holdDir, id string) error {
	if err := os.MkdirAll(holdDir, 0o755); err != nil {
		return fmt.Errorf("tell that the inspections are kept: %w", err)
	}
	return durable.WriteFile(filepath.Join(holdDir, keptFile), []byte(id), 0o644)
}

// Unkept are the starts that the wrapper has noted in a folder of the node's volume and that the agent has not kept yet.
func Unkept(dir, holdDir string) ([]wire.Inspection, error) {
	text, err := read(filepath.Join(dir, startsFile))
	if err != nil || text == nil {
		return nil, err
	}
	var starts []wire.Inspection
	if err := json.Unmarshal(text, &starts); err != nil {
		return nil, fmt.Errorf("read the notes of starts: %w", err)
	}
	kept, err := read(filepath.Join(holdDir, keptFile))
	if err != nil {
		return nil, err
	}
	last := slices.IndexFunc(starts, func(i wire.Inspection) bool { return i.ID == strings.TrimSpace(string(kept)) })
	return starts[last+1:], nil
}

// NoteStarts notes them there. The first of many stays: that it was not inspected is enough to know.
func NoteStarts(dir string, starts []wire.Inspection) error {
	if over := len(starts) - startsMost; over > 0 {
		starts = slices.Delete(slices.Clone(starts), 1, 1+over)
	}
	text, err := json.Marshal(starts)
	if err != nil {
		return fmt.Errorf("note the starts: %w", err)
	}
	return durable.WriteFile(filepath.Join(dir, startsFile), text, 0o644)
}

// read returns nil for a file that is not there.
func read(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read note: %w", err)
	case info.Size() > noteMost:
		return nil, fmt.Errorf("read note %s: it has %d bytes, which is no note", file, info.Size())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read note: %w", err)
	}
	return text, nil
}
