// Package comparison sets the figures of several runs side by side, and states differences where the rule of internal/compare allows it. It is
// pure.
package comparison

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/figure"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/terminal"
)

// Comparison of runs with the first of them.
type Comparison struct {
	Runs []Run
	Rows []Row // of the whole load
	// Stages are those that all runs have, by their names; there are none where each has one alone, which is the whole load.
	Stages []Row
}

// Run is one of the runs.
type Run struct {
	Document *figures.Document
	Name     string
	// Why no difference from the first run is stated, "" where they are.
	Why string
	// Note says what else to know of the pair.
	Note string
}

// Row is a figure of all runs.
type Row struct {
	Title string
	Cells []Cell
}

// Cell is the figure of one run.
type Cell struct {
	figure.Figure
	Delta string // from the first run, "" where none is stated
}

// Text is the figure with its difference.
func (c Cell) Text() string {
	if c.Delta == "" {
		return c.Figure.Text()
	}
	return c.Figure.Text() + " (" + c.Delta + ")"
}

// Of compares runs with the first one.
func Of(documents ...*figures.Document) (*Comparison, error) {
	if len(documents) < 2 {
		return nil, errors.New("name two or more experiments to compare: the first is the base")
	}
	c := &Comparison{}
	for i, d := range documents {
		run := Run{Document: d, Name: nameOf(d, documents)}
		if i > 0 {
			run.judge(documents[0])
		}
		c.Runs = append(c.Runs, run)
	}
	for _, entry := range figure.All() {
		if entry.Compared {
			c.Rows = append(c.Rows, c.row(entry, entry.Title, entry.Path))
		}
	}
	if !slices.ContainsFunc(documents, func(d *figures.Document) bool { return counting(d) > 1 }) {
		return c, nil
	}
	for _, s := range shared(documents) {
		for _, entry := range figure.All() {
			if entry.Compared && entry.InStages && !entry.Rate {
				c.Stages = append(c.Stages, c.row(entry, s+": "+entry.Title, entry.OfStage(s)))
			}
		}
	}
	return c, nil
}

// nameOf a run: with its namespace, and a part of its UID, where others have its name.
func nameOf(d *figures.Document, documents []*figures.Document) string {
	name := d.Experiment
	if slices.ContainsFunc(documents, func(o *figures.Document) bool { return o.Experiment == d.Experiment && o.Namespace != d.Namespace }) {
		name = d.Namespace + "/" + d.Experiment
	}
	if slices.ContainsFunc(documents, func(o *figures.Document) bool {
		return o.Experiment == d.Experiment && o.Namespace == d.Namespace && o.UID != d.UID
	}) {
		name += " " + d.UID[:min(8, len(d.UID))]
	}
	return name
}

// counting is how many stages of a run count.
func counting(d *figures.Document) (n int) {
	for _, s := range d.Spec.Load.Stages {
		if !s.Discard {
			n++
		}
	}
	return n
}

// shared are the stages that every run has and counts.
func shared(documents []*figures.Document) (names []string) {
	for _, s := range documents[0].Spec.Load.Stages {
		all := !s.Discard
		for _, d := range documents {
			all = all && slices.ContainsFunc(d.Spec.Load.Stages, func(o v1alpha1.Stage) bool { return o.Name == s.Name && !o.Discard })
		}
		if all {
			names = append(names, s.Name)
		}
	}
	return names
}

// judge whether differences from a run may be stated.
func (r *Run) judge(base *figures.Document) {
	stated := compare.Of(run(r.Document), run(base), base.Experiment, &figure.Bounds{})
	if r.Why = compare.Refusal(run(r.Document), run(base)); r.Why == "" {
		r.Note = stated.Note
	}
}

func run(d *figures.Document) compare.Run {
	return compare.Run{Spec: d.Spec, Status: d.Status, Provenance: d.Provenance}
}

// row of a figure.
func (c *Comparison) row(entry figure.Entry, title, path string) Row {
	row := Row{Title: title}
	base := c.Runs[0].Document
	for i, r := range c.Runs {
		cell := Cell{Figure: r.Document.Figure("status." + path)}
		of := base.Figure("status." + path)
		held := entry.Rate && (heldUp(r.Document, path) || heldUp(base, path))
		within := strings.HasPrefix(path, lagPath) && indistinct(cell.Figure, of, r.Document, base)
		if i > 0 && r.Why == "" && !held && !within {
			cell.Delta = delta(cell.Figure, of)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

const lagPath = "replication.lag."

// indistinct tells whether two lags differ by less than one of them is known to.
func indistinct(now, of figure.Figure, documents ...*figures.Document) bool {
	if now.Value == nil || of.Value == nil {
		return false
	}
	differ := max(*now.Value-*of.Value, *of.Value-*now.Value)
	return slices.ContainsFunc(documents, func(d *figures.Document) bool {
		known := d.Figure("status." + lagPath + "resolutionP50Microseconds").Value
		return known != nil && differ < *known
	})
}

// heldUp tells whether the recorder was paused for long in the stage that a figure is of, else in the whole load.
func heldUp(d *figures.Document, path string) bool {
	load := d.Status.Load
	if load == nil {
		return false
	}
	of := load.StageFigures
	for _, s := range load.Stages {
		if strings.HasPrefix(path, "load.stages["+s.Name+"].") {
			of = s.StageFigures
		}
	}
	return compare.HeldUp(of) != ""
}

// delta in percent of a figure, as far as the bounds of the two allow one.
func delta(now, base figure.Figure) string {
	if now.Value == nil || base.Value == nil {
		return ""
	}
	low, high, ok := compare.Percent(compare.IntervalOf(now), compare.IntervalOf(base))
	switch {
	case !ok:
		return ""
	case low == high:
		return fmt.Sprintf("%+d%%", low)
	}
	return fmt.Sprintf("%+d to %+d%%", low, high)
}

// Heads are the lines that say what each run is: what, and a cell of each run.
func (c *Comparison) Heads() (lines [][]string) {
	lines = [][]string{{"verdict"}, {"topology"}, {"durability"}}
	for _, r := range c.Runs {
		d := r.Document
		topology := d.Topology()
		if n := d.Spec.Topology.Nodes; n > 1 {
			topology += fmt.Sprintf(", %d nodes", n)
		}
		for i, text := range []string{string(d.Status.Verdict), topology, string(d.Spec.Topology.Durability)} {
			lines[i] = append(lines[i], text)
		}
	}
	return lines
}

// Remarks say of which runs no difference is stated and why, and what to know of the others.
func (c *Comparison) Remarks() (all []string) {
	for _, r := range c.Runs[1:] {
		if r.Why != "" {
			all = append(all, fmt.Sprintf("%s is not compared with %s: %s.", r.Name, c.Runs[0].Name, r.Why))
			continue
		}
		all = append(all, fmt.Sprintf("%s against %s, the baseline: %s.", r.Name, c.Runs[0].Name, r.Note))
	}
	return append(all,
		"Differences are in percent of the first. A range comes from the measurement alone: two equal runs may differ by more.",
		"No difference is shown for unmeasured figures, open bounds, ranges over 10 points, lags within their resolution, and a base of 0.")
}

// WriteText writes the comparison for people: what each run is, and figures with a column for each run.
func (c *Comparison) WriteText(w io.Writer) error {
	var b bytes.Buffer
	out := terminal.Screen{Writer: &b, Columns: terminal.Width(w)}
	rows := c.Lines()
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = plain.Line(rows[i][j])
		}
	}
	names, heads := rows[0], rows[1:1+len(c.Heads())]
	for i, name := range names[1:] {
		parts := make([]string, len(heads))
		for j, head := range heads {
			parts[j] = head[0] + " " + head[i+1]
		}
		fmt.Fprintln(out, terminal.Fold(name+": "+strings.Join(parts, ", "), out.Columns, 4))
	}
	fmt.Fprintln(out)
	terminal.Columns(out, append(rows[:1], rows[1+len(heads):]...))
	for _, r := range c.Remarks() {
		fmt.Fprintln(out, "\n"+terminal.Fold(plain.Line(r), out.Columns, 0))
	}
	_, err := b.WriteTo(w)
	return err
}

// Lines of the comparison, each with a name and a cell of each run: first the runs' names, then what they are, then the figures.
func (c *Comparison) Lines() (lines [][]string) {
	head := []string{""}
	for _, r := range c.Runs {
		head = append(head, r.Name)
	}
	lines = append(append(lines, head), c.Heads()...)
	for _, r := range slices.Concat(c.Rows, c.Stages) {
		cells := []string{r.Title}
		for _, cell := range r.Cells {
			cells = append(cells, cell.Text())
		}
		lines = append(lines, cells)
	}
	return lines
}
