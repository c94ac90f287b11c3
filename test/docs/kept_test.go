package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/table"
	"replab.dev/internal/results"
	"replab.dev/test/experiment"
)

// notesShown of a run that the README has as its example.
const notesShown = 2

// TestTheExampleOfTheReadmeIsAKeptRun, as a terminal shows it today, with the first of its notes.
func TestTheExampleOfTheReadmeIsAKeptRun(t *testing.T) {
	const name = "galera"
	packed, err := os.ReadFile(filepath.Join(experiment.Root(), "test", "kept", "testdata", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var kept results.Results
	if err := results.Unpack(packed, &kept); err != nil {
		t.Fatal(err)
	}
	kept.Status.Notes = kept.Status.Notes[:notesShown]
	summary := table.Result(&v1alpha1.ReplicationExperiment{Spec: kept.Spec, Status: kept.Status})
	page := filepath.Join(experiment.Root(), "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := between(string(text), name, "```text\n"+summary+"```\n")
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
