package figures

import (
	"slices"
	"strings"

	"replab.dev/internal/figure"
)

// Table of a run. HTML, Markdown and the terminal print it as it is.
type Table struct {
	Title string
	// Section of a page that has the table.
	Section string
	// Detail is left to pages: Markdown and the terminal do without the table.
	Detail bool
	Head   []string
	Rows   [][]Cell
	Notes  []string
}

// Cell is a figure, or words.
type Cell struct {
	Figure *figure.Figure
	Words  string
}

// Words is a cell without a figure.
func Words(s string) Cell { return Cell{Words: s} }

// Text of the cell.
func (c Cell) Text() string {
	if c.Figure == nil {
		return c.Words
	}
	return c.Figure.Text()
}

// place is where the figures stand whose paths begin with a prefix.
type place struct{ prefix, title, section string }

// places of figures. The first prefix that fits counts, so every figure of the catalogue has a place.
var places = []place{
	{"nodes[].lag.", "Replication lag of each node: from a write's acknowledgement to its row there", "Replication"},
	{"nodes[].", "Nodes after the load had settled", "Nodes"},
	{"faults[].", "Faults", "Faults"},
	{"distance.roundTrips[].", "Round trips", "Nodes"},
	{"load.stages[].distance.", "Throughput against what the distance allows", "Nodes"},
	{"load.stages[].resources[].", "Resources in each stage", "Nodes"},
	{"load.stages[].", "Stages of the load", "Load"},
	{"load.latency.", "Latency", "Load"},
	{"load.", "Load", "Load"},
	{"replication.lag.", "Replication lag", "Replication"},
	{"replication.lagSizes[].", "Replication by the size of rows", "Replication"},
	{"replication.traffic[].", "Bytes of replication", "Replication"},
	{"replication.group.", "Group", "Replication"},
	{"replication.", "Degraded", "Replication"},
	{"writes.", "Writes", "Writes"},
	{"ghostWrites", "Writes", "Writes"},
	{"failover.", "Failover", "Faults"},
	{"comparison.", "Comparison", "Comparison"},
	{"outage", "Outage", "Faults"},
	{"", "Others", "Nodes"},
}

func placeOf(path string) place {
	return places[slices.IndexFunc(places, func(p place) bool { return strings.HasPrefix(path, p.prefix) })]
}

// column of a table: a field of the rows' objects. A field with empty brackets is a path of its own, for the item with the row's name.
type column struct{ title, field string }

// columns are the catalogue's figures of a prefix; stages also have most figures of the load.
func columns(prefix string) (all []column) {
	for _, e := range figure.All() {
		if e.InStages && prefix == "load.stages[]." {
			all = append(all, column{strings.TrimPrefix(e.Title, "latency "), strings.TrimPrefix(e.Path, "load.")})
		}
		if placeOf(e.Path).prefix == prefix {
			all = append(all, column{e.Title, strings.TrimPrefix(e.Path, prefix)})
		}
	}
	return all
}

// row of a table: its name and other words, and the path of its object in the document.
type row struct {
	path  string
	words []string
}

// tableOf rows with the figures of a prefix.
func (d *Document) tableOf(prefix string, head []string, rows []row, more ...column) Table {
	p := placeOf(prefix)
	t := Table{Title: p.title, Section: p.section, Head: head}
	t.fill(d, append(columns(prefix), more...), rows)
	return t
}

// fill the table. A column without any figure is left out, and a note says why; so does one for each figure that is absent.
func (t *Table) fill(d *Document, columns []column, rows []row) {
	t.Head = slices.Clone(t.Head)
	for _, r := range rows {
		var cells []Cell
		for _, w := range r.words {
			cells = append(cells, Words(w))
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, c := range columns {
		all := make([]figure.Figure, 0, len(rows))
		for _, r := range rows {
			path := r.path + "." + c.field
			if strings.Contains(c.field, "[]") {
				path = strings.Replace(c.field, "[]", "["+r.words[0]+"]", 1)
			}
			all = append(all, d.Figure(path))
		}
		t.add(c.title, all)
	}
}

func (t *Table) add(title string, all []figure.Figure) {
	there := slices.ContainsFunc(all, func(f figure.Figure) bool { return f.Value != nil })
	if there {
		t.Head = append(t.Head, title)
	}
	for i, f := range all {
		note := title + ": " + f.Because
		if there {
			t.Rows[i] = append(t.Rows[i], Cell{Figure: &f})
			note = t.Rows[i][0].Words + ", " + note
		}
		if f.Value == nil && !slices.Contains(t.Notes, note) {
			t.Notes = append(t.Notes, note)
		}
	}
}
