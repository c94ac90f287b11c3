package bins

import (
	"os"
	"path/filepath"
	"testing"

	"replab.dev/hack/local/internal/layout"
)

func TestPinned(t *testing.T) {
	const gomod = "module x\n\nrequire a.dev/one v1.2.3\n\nrequire (\n\ta.dev/two v0.1.0 // indirect\n\ta.dev/twofold v9.9.9\n)\n"
	for module, want := range map[string]string{"a.dev/one": "v1.2.3", "a.dev/two": "v0.1.0"} {
		if got, err := pinned(gomod, module); got != want || err != nil {
			t.Errorf("%s: got %q, %v", module, got, err)
		}
	}
	if _, err := pinned(gomod, "a.dev/three"); err == nil {
		t.Error("a module that is not required has a version")
	}
}

// TestEveryBinaryIsPinned reads the real go.mod files.
func TestEveryBinaryIsPinned(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range All {
		if _, err := b.version(b.source(l)); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

func TestOptionalBinariesAreMadeWhereTheyAreAskedFor(t *testing.T) {
	for _, b := range All {
		if b.wanted(nil) == b.Optional || !b.wanted([]string{b.Name}) || b.wanted([]string{"another"}) {
			t.Errorf("%s is made where it is not asked for, or is not where it is", b.Name)
		}
	}
}

func TestInputsFollowTheSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(how string) string {
		s, err := inputs(dir, how)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write("go.mod", "module x")
	first := sum("go1")
	if sum("go1") != first {
		t.Error("nothing changed and the inputs did")
	}
	if sum("go2") == first {
		t.Error("another Go makes the same inputs")
	}
	write("main_test.go", "package main")
	if sum("go1") != first {
		t.Error("a test counts as an input")
	}
	write("main.go", "package main")
	second := sum("go1")
	if second == first {
		t.Error("a source does not count as an input")
	}
	if err := os.Mkdir(filepath.Join(dir, "part"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("part/part.go", "package part")
	if sum("go1") == second {
		t.Error("a source in a folder does not count as an input")
	}
}
