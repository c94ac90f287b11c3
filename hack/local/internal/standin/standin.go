// Package standin has tests call scripts in place of commands.
package standin

import (
	"os"
	"path/filepath"
	"testing"
)

// Commands are scripts of sh by the names of the commands. It returns their folder, which is first in PATH.
func Commands(t *testing.T, scripts map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return folder
}
