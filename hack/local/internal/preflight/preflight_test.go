package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestMissingFrom(t *testing.T) {
	const answer = "runc installed\ncontainerd config-files\n"
	got := missingFrom([]string{"runc", "containerd", "socat"}, answer)
	if !slices.Equal(got, []string{"containerd", "socat"}) {
		t.Errorf("got %q: one that was removed or was never known is missing", got)
	}
}

func TestPackagesAreInstalledOneAfterTheOther(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	policyFile = filepath.Join(bin, "policy-rc.d")
	for name, script := range map[string]string{
		"dpkg-query": "cat " + bin + "/installed 2>/dev/null; exit 1",
		"apt-get":    "mkdir " + bin + "/lock || exit 100; sleep 0.1; echo socat installed >" + bin + "/installed; rmdir " + bin + "/lock",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var lanes sync.WaitGroup
	for range 3 {
		lanes.Go(func() {
			if err := packages([]string{"socat"}); err != nil {
				t.Error(err)
			}
		})
	}
	lanes.Wait()
}
