package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// sizedVariants of seed 000, with how the page of sizes names them.
var sizedVariants = []struct{ name, title string }{{"register", "Single"}, {"semisync-killed", "SemiSync, 3 nodes"}}

// TestSizesAreThoseOfSeed000, written anew with -update.
func TestSizesAreThoseOfSeed000(t *testing.T) {
	page := filepath.Join(experiment.Root(), "docs", "reference", "sizes.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	s := exported(t, filepath.Join(experiment.Root(), "docs", "evidence", "seeds", "seed-000", "suite.yaml"))
	want, err := between(string(text), "sizes", sizes(t, s))
	switch {
	case err != nil:
		t.Fatal(err)
	case want == string(text):
	case !*update:
		t.Errorf("%s does not have the sizes of seed-000: go test ./test/docs -update", page)
	default:
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sizes is a table of each process's memory and processor time under load.
func sizes(t *testing.T, s *v1alpha1.ReplicationSuite) string {
	t.Helper()
	var b strings.Builder
	head, rule := "| process |", "|---|"
	for _, v := range sizedVariants {
		head += fmt.Sprintf(" %s: memory | processor |", v.title)
		rule += "---|---|"
	}
	fmt.Fprintf(&b, "%s\n%s\n", head, rule)
	for _, process := range []string{"db-0", "db-1", "db-2", "proxy", "app", "director", "recorder", "k6"} {
		fmt.Fprintf(&b, "| %s |", process)
		for _, v := range sizedVariants {
			memory, ok := median(t, s, v.name, process, "stageMemoryPeakBytes")
			cpu, also := median(t, s, v.name, process, "stageCPUMillicores")
			if !ok || !also {
				b.WriteString(" | |")
				continue
			}
			fmt.Fprintf(&b, " %.0f MiB | %.2f cores |", memory/(1<<20), cpu/1000)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// median of a process's figure in the stage under load; false where the variant has no such process.
func median(t *testing.T, s *v1alpha1.ReplicationSuite, variant, item, metric string) (float64, bool) {
	t.Helper()
	for _, v := range s.Status.Variants {
		for _, f := range v.Figures {
			if v.Name != variant || f.Item != item || f.Stage != "loaded" || string(f.Name) != metric || f.Median == "" {
				continue
			}
			value, err := strconv.ParseFloat(string(f.Median), 64)
			if err != nil {
				t.Fatal(err)
			}
			return value, true
		}
	}
	return 0, false
}
