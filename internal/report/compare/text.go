package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

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
	return append(all, "Differences are in percent of the first. None is stated of an open bound, over a range of more than 10 points, of what was not measured, and from 0.")
}

// WriteText writes the comparison for a terminal.
func (c *Comparison) WriteText(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(out, strings.Join(cells, "\t")) }
	c.each(line)
	if err := out.Flush(); err != nil {
		return err
	}
	for _, r := range c.Remarks() {
		if _, err := fmt.Fprintln(w, "\n"+r); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes the comparison as a table of Markdown.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	first := true
	c.each(func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if first {
			b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
			first = false
		}
	})
	for _, r := range c.Remarks() {
		b.WriteString("\n" + r + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// each line of the comparison, from the names of the runs on.
func (c *Comparison) each(line func(...string)) {
	head := []string{""}
	for _, r := range c.Runs {
		head = append(head, r.Name)
	}
	line(head...)
	for _, l := range c.Heads() {
		line(l...)
	}
	for _, r := range slices.Concat(c.Rows, c.Stages) {
		cells := []string{r.Title}
		for _, cell := range r.Cells {
			cells = append(cells, cell.Text())
		}
		line(cells...)
	}
}
