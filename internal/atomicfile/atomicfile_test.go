package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileReplacesTheContentAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path+".new", []byte("half of a file, left by a crash, longer than the next"), 0o600); err != nil {
		t.Fatal(err)
	}
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

func TestAFailedWriteLeavesTheOldContentAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil { // no file can take a full folder's place
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), 0o644); err == nil {
		t.Fatal("no error")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || !entries[0].IsDir() {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
}
