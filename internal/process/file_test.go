package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileReplacesTheContentAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path+".new", "half of a file, left by a crash, longer than the next")
	for _, content := range []string{"first, longer", "second"} {
		if err := WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Fatalf("the file holds %q, %v", got, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "f"), nil, 0o644); err == nil {
		t.Fatal("no error for a folder that does not exist")
	}
}
