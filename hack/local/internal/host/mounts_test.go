package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMountsBelow(t *testing.T) {
	const info = `21 1 254:0 / / rw - ext4 /dev/vda rw
30 21 0:30 / /w/.local/run/a rw - tmpfs tmpfs rw
31 30 0:31 / /w/.local/run/a/b rw - tmpfs tmpfs rw
32 21 0:32 / /w/.local/running rw - tmpfs tmpfs rw
33 21 0:33 / /w/.local/run/with\040blank rw - tmpfs tmpfs rw
`
	got := mountsBelow(info, []string{"/w/.local/run"})
	want := []string{"/w/.local/run/with blank", "/w/.local/run/a/b", "/w/.local/run/a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: the innermost must come first, and a name that only begins alike is another", got, want)
	}
}

func TestRemoveEmptyKeepsWhatSomebodyElsePutThere(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, d := range []string{filepath.Join(ours, "a", "b"), theirs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(theirs, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	removeEmpty(ours)
	removeEmpty(theirs)
	if _, err := os.Stat(ours); !os.IsNotExist(err) {
		t.Error("the empty folder is still there")
	}
	if _, err := os.Stat(filepath.Join(theirs, "file")); err != nil {
		t.Error("a file of somebody else is gone")
	}
}
