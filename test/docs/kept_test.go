package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/summary"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/results"
	"replab.dev/test/experiment"
)

// TestTheExampleOfTheReadmeIsAKeptRun, as a terminal shows it today, down to its faults.
func TestTheExampleOfTheReadmeIsAKeptRun(t *testing.T) {
	const name = "semisync"
	kept := readKept(t, name)
	var shown strings.Builder
	summary.Write(terminal.Screen{Writer: &shown, Columns: 80}, &v1alpha1.ReplicationExperiment{Spec: kept.Spec, Status: kept.Status})
	top, _, _ := strings.Cut(shown.String(), "Node ")
	page := filepath.Join(experiment.Root(), "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := between(string(text), name, "```text\n"+top+"...\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("README.md does not have the summary of the run %s: go test ./test/docs -update", name)
	default:
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// readKept reads the results document of a run in test/kept.
func readKept(t *testing.T, name string) (kept results.Results) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join(experiment.Root(), "test", "kept", "testdata", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := results.Unpack(packed, &kept); err != nil {
		t.Fatal(err)
	}
	return kept
}
