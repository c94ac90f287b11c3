package registry

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replab.dev/test/experiment"
)

// TestNeutralRoomsNameNobody: what holds for one manager or operator alone is its driver's to say. No linter reads words.
func TestNeutralRoomsNameNobody(t *testing.T) {
	names := regexp.MustCompile(`(?i)zalando|patroni|spilo|pod_antiaffinity`)
	for _, room := range []string{"controllers", "internal/agent", "internal/starter", "internal/plan", "internal/cluster", "internal/verdict", "internal/audit", "internal/recorder", "internal/wire"} {
		files := 0
		err := filepath.WalkDir(filepath.Join(experiment.Root(), filepath.FromSlash(room)), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				if name := names.FindString(line); name != "" {
					t.Errorf("%s:%d names %s", path, i+1, name)
				}
			}
			return err
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %d files, %v", room, files, err)
		}
	}
}
