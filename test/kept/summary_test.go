package kept_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/follow"
	"replab.dev/internal/plugin/screen"
	"replab.dev/internal/report/summary"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/results"
)

// columns that a terminal has at least.
const columns = 80

// TestTerminalsOf80ColumnsShowKeptRuns whole: their last screens and their summaries, with the verdict first and the limits of figures last.
func TestTerminalsOf80ColumnsShowKeptRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		packed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kept results.Results
		if err := results.Unpack(packed, &kept); err != nil {
			t.Fatal(err)
		}
		x := &v1alpha1.ReplicationExperiment{Spec: kept.Spec, Status: kept.Status}
		x.Name, x.CreationTimestamp = kept.Experiment, *kept.Status.StartTime
		v := follow.View{Experiment: x, Age: 3 * time.Minute}
		drawn := ansi.Strip(screen.Draw(v, new(follow.Events).Next(v), columns, 24))
		var shown strings.Builder
		summary.Write(terminal.Screen{Writer: &shown, Columns: columns}, x)
		for line := range strings.Lines(drawn + shown.String()) {
			if line = strings.TrimSuffix(line, "\n"); ansi.StringWidth(line) > columns || strings.Contains(line, "…") {
				t.Errorf("%s: wider than %d columns, or cut: %q", file, columns, line)
			}
		}
		if rows := rowsOf(shown.String()); rows[0] != "Verdict" || len(kept.Status.Notes) > 0 && slices.Index(rows, "Note") < slices.Index(rows, "Node") {
			t.Errorf("%s: rows %v", file, rows)
		}
	}
}

// rowsOf a summary, by their names.
func rowsOf(summary string) (names []string) {
	for line := range strings.Lines(summary) {
		if name, _, _ := strings.Cut(line, " "); name != "" {
			names = append(names, name)
		}
	}
	return names
}
