package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/internal/figure"
	"replab.dev/internal/suite"
	"replab.dev/test/experiment"
)

const aboutMetrics = `# Metrics of goals and suites

The names of figures in ` + "`spec.goals`, and in a suite's `comparisons`, `expectations` and `reference`" + `. [figures.md](figures.md) explains each figure.

- The column *of* says what a suite may set beside the metric: stage, item or both. Without ` + "`stage`" + `, the metric is of the whole load.
- An ` + "`item`" + ` is a node (` + "`db-0`" + `), a process (` + "`app`, `proxy`, `k6`, `recorder`, `director`" + `), a direction (` + "`db-0 to db-1`" + `), a size of rows in bytes or a fault.
- Goals take the metrics with a yes, of the whole load.

| metric | figure | of | goal |
|---|---|---|---|
`

// TestPageOfMetricsIsTheCatalogue, written anew with -update.
func TestPageOfMetricsIsTheCatalogue(t *testing.T) {
	var b strings.Builder
	b.WriteString(aboutMetrics)
	for _, e := range figure.All() {
		goal := ""
		if e.Goal {
			goal = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", e.Name, e.Path, placesOf(e.Name), goal)
	}
	page := filepath.Join(experiment.Root(), "docs", "reference", "metrics-of-suites.md")
	text, err := os.ReadFile(page)
	if string(text) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not of this catalogue (%v): go test ./test/docs -update", page, err)
	}
	if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func placesOf(metric string) string {
	switch p := suite.Metric(metric); {
	case p.Items && p.Stages && p.Whole:
		return "`item`, also with `stage`"
	case p.Items && p.Stages:
		return "`item` and `stage`"
	case p.Items:
		return "`item`"
	case p.Stages && p.Whole:
		return "whole load, or `stage`"
	case p.Stages:
		return "`stage`"
	}
	return "whole load"
}
