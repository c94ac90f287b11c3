package suites

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/terminal"
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
	}{{c.Passed, "passed"}, {c.Failed, "failed"}, {c.Inconclusive, "inconclusive"}, {c.Invalid, "invalid"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	switch {
	case c.Repeated == 1:
		text += "; 1 inconclusive run was repeated"
	case c.Repeated > 1:
		text += fmt.Sprintf("; %d inconclusive runs were repeated", c.Repeated)
	}
	return text
}

// Write what came of a suite, for people; with details also a line for each trial.
func Write(w io.Writer, s *v1alpha1.ReplicationSuite, details bool) {
	terminal.Row(w, "Verdict", cmp.Or(string(s.Status.Verdict), "none yet"))
	terminal.Row(w, "Trials", Counts(s))
	for _, reason := range s.Status.Reasons {
		terminal.Row(w, "Reason", reason)
	}
	for _, t := range Tables(s) {
		if details || !t.Detail {
			fmt.Fprintf(w, "\n%s\n", t.Title)
			terminal.Columns(w, columns(t))
		}
	}
	if len(s.Status.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range s.Status.Notes {
		terminal.Row(w, "Note", note)
	}
}

// columns of a table, from its head on. An empty cell is a dash, and a column of dashes is left out.
func columns(t figures.Table) [][]string {
	rows := make([][]string, 1+len(t.Rows))
	for i, title := range t.Head {
		if !slices.ContainsFunc(t.Rows, func(row []figures.Cell) bool { return row[i].Text() != "" }) {
			continue
		}
		rows[0] = append(rows[0], strings.ToUpper(plain.Line(title)))
		for j, row := range t.Rows {
			rows[j+1] = append(rows[j+1], cmp.Or(plain.Line(row[i].Text()), "-"))
		}
	}
	return rows
}
