package html

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
)

// Table is a table of figures, with what is to be said below it.
type Table struct {
	Title string
	Head  []string
	Rows  [][]Cell
	Notes []string
}

// Cell is a figure, or words.
type Cell struct {
	Figure *figure.Figure
	Words  string
}

func words(s string) Cell { return Cell{Words: s} }

// column of a table: a field of what a row is of. In an absolute one, which begins with /, %s is the row's name: each stage
// or node has it, and a row of all of them has none.
type column struct{ title, field string }

// row of a table: its name, what it is of in the document, and words that stand before its figures.
type row struct {
	name, path string
	words      []string
}

// tableOf figures. A column of which no row has any is left out and said below; so is why one figure is absent.
func tableOf(d *figures.Document, title string, head []string, columns []column, rows []row) Table {
	t := Table{Title: title, Head: slices.Clone(head)}
	for _, r := range rows {
		cells := []Cell{words(r.name)}
		for _, w := range r.words {
			cells = append(cells, words(w))
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, c := range columns {
		all := make([]figure.Figure, 0, len(rows))
		for _, r := range rows {
			if strings.HasPrefix(c.field, "/") && (r.name == allNodes || r.name == allStages) {
				all = append(all, figure.Figure{})
				continue
			}
			all = append(all, d.Figure(pathOf(r, c)))
		}
		t.add(c.title, all, rows)
	}
	return t
}

// Names of rows that are of no stage and of no node alone.
const (
	allStages = "all that count"
	allNodes  = "all but old primaries"
)

func pathOf(r row, c column) string {
	if rest, absolute := strings.CutPrefix(c.field, "/"); absolute {
		return fmt.Sprintf(rest, r.name)
	}
	return r.path + "." + c.field
}

func (t *Table) add(title string, all []figure.Figure, rows []row) {
	there := slices.ContainsFunc(all, func(f figure.Figure) bool { return f.Value != nil })
	if there {
		t.Head = append(t.Head, title)
	}
	var noted []string
	for i, f := range all {
		if there {
			t.Rows[i] = append(t.Rows[i], Cell{Figure: &f})
		}
		switch note := title + ": " + f.Because; {
		case f.Value != nil, f.Path == "":
		case !there && !slices.Contains(noted, note):
			noted = append(noted, note)
		case there:
			noted = append(noted, rows[i].name+", "+note)
		}
	}
	t.Notes = append(t.Notes, noted...)
}

// list is a table of single figures, a line each; those that are absent with the reason.
func list(d *figures.Document, title string, all []column) Table {
	t := Table{Title: title, Head: []string{"", ""}}
	for _, c := range all {
		f := d.Figure(c.field)
		t.Rows = append(t.Rows, []Cell{words(c.title), {Figure: &f}})
	}
	return t
}
