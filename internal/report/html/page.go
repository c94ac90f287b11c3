// Package html writes reports of runs as pages that stand alone: one file each that asks for nothing from anywhere. It is pure.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
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
	Tiles    []Tile
	Sets     Sets
	Timeline Timeline
	Latency  []template.HTML // charts
	LagBars  template.HTML
	Phases   template.HTML
	Settings Settings
	YAML     string

	tables []Table
}

// In are the tables of a section.
func (p *Page) In(section string) (all []Table) {
	for _, t := range p.tables {
		if t.Section == section {
			all = append(all, t)
		}
	}
	return all
}

func newPage(d *figures.Document) (*Page, error) {
	timeline, err := newTimeline(d)
	if err != nil {
		return nil, err
	}
	p := &Page{Document: d, Tiles: tiles(d), Sets: sets(d), Timeline: timeline, Settings: newSettings(d), tables: d.Tables()}
	if p.Latency, err = latencyCharts(d); err != nil {
		return nil, err
	}
	if p.LagBars, err = lagChart(d); err != nil {
		return nil, err
	}
	if p.Phases, err = phases(d); err != nil {
		return nil, err
	}
	p.YAML, err = d.Repeat()
	return p, err
}

// Tile is one of the figures that stand first.
type Tile struct {
	Title  string
	Figure figure.Figure
}

func tiles(d *figures.Document) (all []Tile) {
	for _, entry := range figure.All() {
		if entry.Tile {
			all = append(all, Tile{entry.Title, d.Figure("status." + entry.Path)})
		}
	}
	return all
}

// Sets are the writes by what became of them.
type Sets struct {
	Sent, Acknowledged, Rejected, Indeterminate, Present, Lost, Recovered, Vanished, Unexpected, Ghosts figure.Figure
	// Kept is acknowledged without lost, "" where either is not known.
	Kept string
}

func sets(d *figures.Document) Sets {
	of := func(name string) figure.Figure { return d.Figure("status.writes." + name) }
	s := Sets{
		of("sent"), of("acknowledged"), of("rejected"), of("indeterminate"), of("present"), of("lost"), of("recovered"), of("vanished"), of("unexpected"),
		d.Figure("status.ghostWrites"), "",
	}
	if s.Acknowledged.Value != nil && s.Lost.Value != nil && s.Lost.IsExact() {
		s.Kept = figure.Grouped(*s.Acknowledged.Value - *s.Lost.Value)
	}
	return s
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
