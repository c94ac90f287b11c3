// Package hold keeps a server from being started: the agent puts a hold, the start wrapper waits while one stands. Each
// hold is a file on the node's volume, so it outlives the container and the pod, and has its end in it, so that the
// server comes back on time even where no agent does. The agent writes the folder, the server's container reads it.
package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"replab.dev/internal/durable"
)

const suffix = ".json"

// Hold is one reason to wait.
type Hold struct {
	Fault string     `json:"fault"`           // name of the fault that it belongs to
	Until *time.Time `json:"until,omitempty"` // absent: until it is removed
}

// Put writes a hold, or replaces the one of the same fault.
func Put(dir string, h Hold) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("hold of fault %s: %w", h.Fault, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("hold of fault %s: %w", h.Fault, err)
	}
	return durable.WriteFile(file(dir, h.Fault), text, 0o644)
}

// Remove ends the hold of a fault; there may be none.
func Remove(dir, fault string) error {
	err := os.Remove(file(dir, fault))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the hold of fault %s: %w", fault, err)
	}
	return durable.SyncDir(dir)
}

// Standing returns the holds that are not over at the given time, by name.
func Standing(dir string, now time.Time) ([]Hold, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the holds: %w", err)
	}
	var standing []Hold
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		h, err := read(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed a moment ago
		}
		if err != nil {
			return nil, err
		}
		if h.Until == nil || now.Before(*h.Until) {
			standing = append(standing, h)
		}
	}
	return standing, nil
}

func read(path string) (Hold, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Hold{}, fmt.Errorf("read the hold: %w", err)
	}
	var h Hold
	if err := json.Unmarshal(text, &h); err != nil {
		return Hold{}, fmt.Errorf("read the hold %s: %w; remove the file to start the server", path, err)
	}
	return h, nil
}

func file(dir, fault string) string { return filepath.Join(dir, fault+suffix) }
