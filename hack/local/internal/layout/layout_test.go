package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	checkout := t.TempDir()
	deep := filepath.Join(checkout, "a", "b")
	for _, dir := range []string{deep, filepath.Join(checkout, "hack", "local")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(checkout, "hack", "local", "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)

	t.Setenv("LOCAL_DIR", "/short")
	l, err := Find()
	if err != nil || l.Checkout != checkout || l.Dir != "/short" {
		t.Errorf("got %+v, %v", l, err)
	}

	t.Setenv("LOCAL_DIR", "/"+strings.Repeat("x", longest))
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), "LOCAL_DIR") {
		t.Errorf("a path that is too long for sockets: got %v", err)
	}

	t.Chdir(t.TempDir())
	if _, err := Find(); err == nil {
		t.Error("found a checkout where there is none")
	}
}
