package notes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestANoteIsReadAsItWasSaved(t *testing.T) {
	f := File[[]string]{Path: filepath.Join(t.TempDir(), "note.json")}
	if got, err := f.Load(); got != nil || err != nil {
		t.Fatalf("without a file: %v, %v", got, err)
	}
	for _, want := range [][]string{{"a"}, {"a", "b"}} {
		must(t, f.Save(want))
		if got, err := f.Load(); err != nil || got == nil || !slices.Equal(*got, want) {
			t.Errorf("got %v, %v, want %q", got, err, want)
		}
	}
	for range 2 { // the second time there is none
		must(t, f.Remove())
	}
	if got, err := f.Load(); got != nil || err != nil {
		t.Errorf("after its removal: %v, %v", got, err)
	}
}

func TestWhatCannotBeReadIsNotTakenForNone(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"cut off":         {`{"version":1,"note":"lo`, "unexpected end of JSON input"},
		"empty":           {"", "unexpected end of JSON input"},
		"another version": {`{"version":2,"note":"a"}`, "its version is 2"},
		"another kind":    {`{"version":1,"note":7}`, "cannot unmarshal number"},
		"too large":       {`{"version":1,"note":"` + strings.Repeat("a", 100) + `"}`, "bytes, which is no note"},
	} {
		f := File[string]{Path: filepath.Join(t.TempDir(), "note.json"), Most: 100}
		must(t, os.WriteFile(f.Path, []byte(c.text), 0o600))
		if got, err := f.Load(); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), f.Path) {
			t.Errorf("%s: %v, %v; want it to say %q and the file", name, got, err, c.says)
		}
	}
}

func TestAFolderHoldsNotesByName(t *testing.T) {
	d := Folder[string]{Dir: filepath.Join(t.TempDir(), "folder")}
	if all, err := d.Load(); len(all) != 0 || err != nil {
		t.Fatalf("without a folder: %q, %v", all, err)
	}
	must(t, d.Save("b", "2"))
	must(t, d.Save("a", "1"))
	must(t, os.WriteFile(filepath.Join(d.Dir, "a.json.new"), []byte("half"), 0o600)) // a crash left it
	if all, err := d.Load(); err != nil || !slices.Equal(all, []string{"1", "2"}) {
		t.Errorf("got %q, %v", all, err)
	}
	must(t, os.WriteFile(filepath.Join(d.Dir, "c.json"), []byte("{"), 0o600))
	if _, err := d.Load(); err == nil {
		t.Error("a note that cannot be read is passed over")
	}
}

// list is a document that is changed.
type list []string

func (l list) Clone() list { return slices.Clone(l) }

func TestAChangeThatCannotBeSavedIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "note.json")
	k, err := Open[list](path)
	must(t, err)
	add := func(text string) func(*list) { return func(l *list) { *l = append(*l, text) } }
	must(t, k.Change(add("a")))
	must(t, os.Mkdir(path+".new", 0o755)) // where the next one is to be written
	if err := k.Change(add("b")); err == nil || !slices.Equal(k.Note(), list{"a"}) {
		t.Errorf("changed to %q, %v", k.Note(), err)
	}
	must(t, k.Change(func(*list) {})) // nothing is to be written
	must(t, os.RemoveAll(path+".new"))
	must(t, k.Change(add("c")))
	next, err := Open[list](path)
	if err != nil || !slices.Equal(next.Note(), list{"a", "c"}) {
		t.Errorf("the next one finds %q, %v", next.Note(), err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
