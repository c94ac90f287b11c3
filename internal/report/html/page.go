// Package html writes reports of runs as pages that stand alone: one file each that asks for nothing from anywhere. It is pure.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/story"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/results"
)

// Table of a page is that of any report.
type Table = figures.Table

// Cell of a page is that of any report.
type Cell = figures.Cell

var words = figures.Words

//go:embed *.gohtml style.css script.js
var files embed.FS

// templates are the pages. What they show of a run goes through the library's escaping.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"style":      func() template.CSS { return template.CSS(text("style.css")) }, //nolint:gosec // our own file
	"script":     func() template.JS { return template.JS(text("script.js")) },   //nolint:gosec // our own file
	"scriptHash": func() string { return hashOf(text("script.js")) },
}).ParseFS(files, "*.gohtml"))

func text(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is built in
	}
	return string(b)
}

// hashOf a script, by which the page's policy knows it: no other runs, whatever a run says.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write the report of one run.
func Write(w io.Writer, r results.Results) error {
	d := figures.Of(r)
	page, err := newPage(d)
	if err != nil {
		return fmt.Errorf("report of experiment %s: %w", r.Experiment, err)
	}
	return templates.ExecuteTemplate(w, "report.gohtml", page)
}

// Page is what the template of a run's report shows.
type Page struct {
	*figures.Document
	Headline string
	Timeline Timeline
	Tiles    []Tile
	Faults   []story.Fault
	Latency  []template.HTML // charts
	LagBars  template.HTML
	Settings Settings
	YAML     string

	tables []Table
}

// In are the tables of a section, without what a page has elsewhere: the fields of figures stand in their titles.
func (p *Page) In(section string) (all []Table) {
	for _, t := range p.tables {
		if t.Section == section {
			all = append(all, slim(t))
		}
	}
	return all
}

// slim leaves out the column of fields, and that of reasons where no row has one.
func slim(t Table) Table {
	if !slices.Equal(t.Head, figures.FigureHead) {
		return t
	}
	because := slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[3].Words != "" })
	keep := func(row []Cell) []Cell {
		if because {
			return []Cell{row[0], row[2], row[3]}
		}
		return []Cell{row[0], row[2]}
	}
	rows := t.Rows
	t.Rows = nil
	for _, row := range rows {
		if !inMatrix(row[1].Words) {
			t.Rows = append(t.Rows, keep(row))
		}
	}
	t.Head = []string{t.Head[0], t.Head[2], t.Head[3]}[:len(keep(rows[0]))]
	return t
}

func newPage(d *figures.Document) (*Page, error) {
	timeline, err := newTimeline(d)
	if err != nil {
		return nil, err
	}
	p := &Page{Document: d, Headline: story.Headline(d), Timeline: timeline, Tiles: tiles(d), Faults: story.Faults(d), Settings: newSettings(d), tables: d.Tables()}
	if p.Latency, err = latencyCharts(d); err != nil {
		return nil, err
	}
	if p.LagBars, err = lagChart(d); err != nil {
		return nil, err
	}
	p.YAML, err = d.Repeat()
	return p, err
}

// Nodes of the topology in words.
func (p *Page) Nodes() string { return wording.Nodes(p.Spec.Topology) }

// Tile is one of the figures that stand first, with its goal.
type Tile struct {
	Title  string
	Figure figure.Figure
	Goal   *v1alpha1.GoalStatus

	decided bool
}

// Class of the page's style: by the goal, which a run that decides nothing does not meet; without one, lost writes are bad.
func (t Tile) Class() string {
	lost := t.Figure.Path == "status.writes.lost" && t.Figure.Value != nil && *t.Figure.Value > 0
	switch {
	case t.Goal == nil && lost, t.Goal != nil && t.Goal.Met == metav1.ConditionFalse:
		return "bad"
	case t.decided && t.Goal != nil && t.Goal.Met == metav1.ConditionTrue:
		return "good"
	}
	return ""
}

// Text of the figure: at a glance, or as exactly as it takes to tell it from the limit of a goal that it does not meet.
func (t Tile) Text() string {
	if t.Goal == nil || t.Goal.Met != metav1.ConditionFalse {
		return t.Figure.Brief()
	}
	if text := t.Figure.Text(); !strings.Contains(figures.Limit(*t.Goal)+",", " "+text+",") {
		return text
	}
	return figure.Grouped(*t.Figure.Value) + " " + t.Figure.Unit()
}

// Outcome of the goal in words.
func (t Tile) Outcome() string { return wording.Met(*t.Goal) }

func tiles(d *figures.Document) (all []Tile) {
	for _, entry := range figure.All() {
		if !entry.Tile {
			continue
		}
		t := Tile{Title: entry.Title, Figure: d.Figure("status." + entry.Path), decided: d.Decided()}
		for i, g := range d.Status.Goals {
			if string(g.Metric) == entry.Name {
				t.Goal = &d.Status.Goals[i]
			}
		}
		all = append(all, t)
	}
	return all
}

// Set of writes: by what their clients were told, and whether they are on the surviving primary.
type Set struct {
	Name, Means string
	Figure      figure.Figure
}

// Bad tells of a set that must be empty and is not.
func (s Set) Bad() bool {
	return (s.Name == "lost" || s.Name == "unexpected") && s.Figure.Value != nil && *s.Figure.Value > 0
}

// sets of the matrix of writes: those sent, those there, and those missing.
var sets = [][]Set{
	{{Name: "acknowledged"}, {Name: "indeterminate"}, {Name: "rejected"}},
	{{Name: "kept", Means: "as it must be"}, {Name: "recovered", Means: "may be"}, {Name: "unexpected", Means: "must be 0"}},
	{{Name: "lost", Means: "must be 0"}, {Name: "vanished", Means: "may be"}, {}},
}

func inMatrix(path string) bool {
	name, of := strings.CutPrefix(path, "status.writes.")
	return of && (name == "sent" || name == "present" || slices.ContainsFunc(slices.Concat(sets...), func(s Set) bool { return s.Name == name }))
}

// Matrix of the writes.
func (p *Page) Matrix() (all [][]Set) {
	for _, row := range sets {
		row = slices.Clone(row)
		for i := range row {
			row[i].Figure = p.Figure("status.writes." + row[i].Name)
		}
		all = append(all, row)
	}
	return all
}

// Kept is acknowledged without lost, "" where either is not known.
func (p *Page) Kept() string {
	acknowledged, lost := p.Figure("status.writes.acknowledged"), p.Figure("status.writes.lost")
	if acknowledged.Value == nil || lost.Value == nil || !lost.IsExact() {
		return ""
	}
	return figure.Grouped(*acknowledged.Value - *lost.Value)
}

// Comparison is what the template of a comparison shows.
type Comparison struct {
	*comparison.Comparison
	Title    string
	Keys     []Key
	Pictures []template.HTML
}

// WriteComparison writes the report on several runs.
func WriteComparison(w io.Writer, c *comparison.Comparison) error {
	var names []string
	for _, r := range c.Runs {
		names = append(names, r.Name)
	}
	page := Comparison{Comparison: c, Title: strings.Join(names, " and "), Keys: (&Page{}).PercentileKeys()}
	latency := chart.Rows{Key: "latency", Title: "Latency of the load", Unit: "µs", Log: true}
	lag := chart.Rows{Key: "lag", Title: "Replication lag", Unit: "µs", Log: true}
	for _, r := range c.Runs {
		latency.Rows = append(latency.Rows, chart.Row{Name: r.Name, Points: points(r.Document, "status.load", latencyPercentiles)})
		lag.Rows = append(lag.Rows, chart.Row{Name: r.Name, Points: points(r.Document, "status.replication.lag", lagPercentiles)})
	}
	for _, p := range []chart.Rows{latency, lag} {
		svg, err := p.SVG()
		if err != nil {
			return err
		}
		if svg != "" {
			page.Pictures = append(page.Pictures, svg)
		}
	}
	return templates.ExecuteTemplate(w, "compare.gohtml", page)
}
