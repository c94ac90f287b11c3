package ci

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/markdown"
)

// WriteSummary writes a table of all runs, and below it the report of each, folded.
func WriteSummary(w io.Writer, runs []Run) error {
	t := figures.Table{Head: []string{"run", "namespace", "verdict", "reason"}}
	passed := 0
	var reports strings.Builder
	for _, r := range runs {
		if r.Verdict == v1alpha1.VerdictPassed {
			passed++
		}
		var row []figures.Cell
		for _, text := range []string{r.Name, r.Namespace, cmp.Or(string(r.Verdict), "none"), strings.Join(r.Reasons, " ")} {
			row = append(row, figures.Words(text))
		}
		t.Rows = append(t.Rows, row)
		if r.Report != "" {
			fmt.Fprintf(&reports, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", html.EscapeString(plain.Line(r.Name)), r.Report)
		}
	}
	t.Title = fmt.Sprintf("replab: %d of %d passed", passed, len(runs))
	var b strings.Builder
	markdown.Table(&b, t)
	_, err := io.WriteString(w, b.String()+reports.String())
	return err
}
