package suites

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/plain"
	"replab.dev/internal/report/table"
)

// Counts are the trials of a suite in words.
func Counts(s *v1alpha1.ReplicationSuite) string {
	c := s.Status.Trials
	if c == nil {
		return "none"
	}
	text := fmt.Sprintf("%d of %d", c.Done, c.Total)
	var parts []string
	for _, p := range []struct {
		n    int32
		what string
	}{{c.Passed, "passed"}, {c.Failed, "failed"}, {c.Inconclusive, "inconclusive"}, {c.Invalid, "invalid"}, {c.Repeated, "repeated"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// Text of what came of a suite, for a terminal.
func Text(s *v1alpha1.ReplicationSuite) string { return text(s, false) }

// Details are the text with a line for each trial.
func Details(s *v1alpha1.ReplicationSuite) string { return text(s, true) }

func text(s *v1alpha1.ReplicationSuite, details bool) string {
	b := &strings.Builder{}
	table.Row(b, "Verdict", cmp.Or(string(s.Status.Verdict), "none yet"))
	table.Row(b, "Trials", Counts(s))
	for _, reason := range s.Status.Reasons {
		table.Row(b, "Reason", reason)
	}
	for _, t := range Tables(s) {
		if details || !t.Detail {
			fmt.Fprintf(b, "\n%s\n", t.Title)
			columns(b, t)
		}
	}
	if len(s.Status.Notes) > 0 {
		fmt.Fprintln(b)
	}
	for _, note := range s.Status.Notes {
		table.Row(b, "Note", note)
	}
	return b.String()
}

// columns of a table, aligned. An empty cell is a dash, and a column of dashes is left out.
func columns(w io.Writer, t figures.Table) {
	used := make([]bool, len(t.Head))
	for _, row := range t.Rows {
		for i, c := range row {
			used[i] = used[i] || c.Text() != ""
		}
	}
	tabs := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	line := func(text func(i int) string) {
		var cells []string
		for i := range t.Head {
			if used[i] {
				cells = append(cells, cmp.Or(plain.Line(text(i)), "-"))
			}
		}
		fmt.Fprintln(tabs, strings.Join(cells, "\t"))
	}
	line(func(i int) string { return strings.ToUpper(t.Head[i]) })
	for _, row := range t.Rows {
		line(func(i int) string { return row[i].Text() })
	}
	_ = tabs.Flush() // the builder takes everything
}
