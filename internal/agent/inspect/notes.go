package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
}

const (
	requestFile = "inspect.json"
	// answerFile is no hold: it has not their suffix.
	answerFile = "inspected"
	noteMost   = 1 << 16
)

// idForm keeps what the server's container writes from naming other files of the agent.
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
	if !idForm.MatchString(r.ID) {
		return nil, fmt.Errorf("read the start wrapper's note of an inspection: %q is no id", r.ID)
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
