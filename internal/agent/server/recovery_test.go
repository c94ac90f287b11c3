package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// recovers is an engine whose recovery takes its note away.
type recovers struct {
	engine.Grouped
	dir          string
	output, note *string
}

func (r recovers) Recovery([]string) engine.Recovery {
	return engine.Recovery{
		Start: engine.Start{Argv: []string{"sh", "-c", "rm -f " + filepath.Join(r.dir, "note") + "; echo told"}},
		Note:  "note",
		Position: func(output, note string) (wire.GroupPosition, error) {
			*r.output, *r.note = output, note
			return wire.GroupPosition{History: "h", Sequence: 7}, nil
		},
	}
}

// TestANoteIsReadBeforeTheRecovery, which may change it; without one there is nothing to read.
func TestANoteIsReadBeforeTheRecovery(t *testing.T) {
	dir := t.TempDir()
	var output, note string
	m := &member{cfg: wire.ServerConfig{DataDir: dir}, engine: recovers{dir: dir, output: &output, note: &note}}
	if err := os.WriteFile(filepath.Join(dir, "note"), []byte("noted"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"noted", ""} {
		position, err := m.findPosition(t.Context(), false)
		if err != nil || position.Sequence != 7 || note != want || strings.TrimSpace(output) != "told" {
			t.Errorf("position %v, %v, by the note %q and %q, want %q and %q", position, err, note, output, want, "told")
		}
	}
}
