package starter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/starter"
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

// handsOver is an engine whose transfers mark the data that they write, and begin by removing those that are there.
type handsOver struct{ engine.Grouped }

func (handsOver) Recovery([]string) engine.Recovery {
	return engine.Recovery{Unfinished: []string{"in_progress"}, Whole: []string{"system"}}
}

// TestAPartOfWhatWasHandedOverIsKnown: a transfer that fails removes its mark, but has removed the system's tables before.
func TestAPartOfWhatWasHandedOverIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{
		"whole data":                    {[]string{"system", "rows"}, false},
		"a transfer that was under way": {[]string{"system", "rows", "in_progress"}, true},
		"a transfer that failed":        {[]string{"rows"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m := &member{Node: &starter.Node{Config: wire.ServerConfig{DataDir: dir}}, engine: handsOver{}}
			if got, err := m.unfinished(); err != nil || got != c.want {
				t.Errorf("unfinished %t, %v; want %t", got, err, c.want)
			}
		})
	}
}

// TestANoteIsReadBeforeTheRecovery, which may change it; without one there is nothing to read.
func TestANoteIsReadBeforeTheRecovery(t *testing.T) {
	dir := t.TempDir()
	var output, note string
	m := &member{Node: &starter.Node{Config: wire.ServerConfig{DataDir: dir}}, engine: recovers{dir: dir, output: &output, note: &note}}
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

// TestANoteIsNotBelievedBesideAPartOfTheMessages: their beginning may have said that the data were not closed in order.
func TestANoteIsNotBelievedBesideAPartOfTheMessages(t *testing.T) {
	const end = "told\n"
	for name, c := range map[string]struct {
		before int // bytes
		note   string
	}{
		"all of them are kept":         {recoveryOutputMost - len(end), "noted"},
		"one byte of them is not kept": {recoveryOutputMost - len(end) + 1, ""},
	} {
		var written tail
		for _, part := range []string{strings.Repeat("x", c.before), end} {
			if n, err := written.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%s: wrote %d bytes of %d, %v", name, n, len(part), err)
			}
		}
		var output, note string
		how := recovers{output: &output, note: &note}.Recovery(nil)
		if _, err := toldPosition(how, &written, "noted"); err != nil || note != c.note || len(output) != recoveryOutputMost || !strings.HasSuffix(output, end) {
			t.Errorf("%s: %v, by the note %q and %d bytes, want the note %q", name, err, note, len(output), c.note)
		}
	}
}
