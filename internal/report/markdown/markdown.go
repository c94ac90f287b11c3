// Package markdown writes what came of a run for an issue or a page of notes. It is pure.
package markdown

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/report/comparison"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/results"
)

// Write the report of one run: verdict, reasons, tables, notes, and the YAML that repeats it.
func Write(w io.Writer, r results.Results) error {
	d := figures.Of(r)
	repeat, err := r.Repeat()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", plain.Markdown(r.Experiment), verdict(d.Status.Verdict))
	for _, reason := range r.Status.Reasons {
		fmt.Fprintf(&b, "- %s\n", plain.Markdown(reason))
	}
	for _, t := range d.Tables() {
		if !t.Detail {
			Table(&b, t)
		}
	}
	if len(r.Status.Notes) > 0 {
		b.WriteString("\n## Limits of the figures\n\n")
	}
	for _, note := range r.Status.Notes {
		fmt.Fprintf(&b, "- %s\n", plain.Markdown(note))
	}
	fmt.Fprintf(&b, "\nThe experiment's YAML:\n\n%[1]syaml\n%[2]s%[1]s\n", fence(repeat), repeat)
	_, err = io.WriteString(w, b.String())
	return err
}

// WriteSuite writes the report of a suite: verdict, reasons, tables and notes.
func WriteSuite(w io.Writer, d *suites.Document) error {
	var b strings.Builder
	s := d.Suite
	fmt.Fprintf(&b, "# %s: %s\n\n%s trials\n\n", plain.Markdown(s.Name), verdict(s.Status.Verdict), suites.Counts(s))
	for _, reason := range s.Status.Reasons {
		fmt.Fprintf(&b, "- %s\n", plain.Markdown(reason))
	}
	for _, t := range d.Tables() {
		if !t.Detail {
			Table(&b, t)
		}
	}
	if len(s.Status.Notes) > 0 {
		b.WriteString("\n## Notes\n\n")
	}
	for _, note := range s.Status.Notes {
		fmt.Fprintf(&b, "- %s\n", plain.Markdown(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteComparison writes the comparison of runs as a table, with remarks.
func WriteComparison(w io.Writer, c *comparison.Comparison) error {
	var b strings.Builder
	for i, line := range c.Lines() {
		cells(&b, line...)
		if i == 0 {
			rule(&b, len(line))
		}
	}
	for _, remark := range c.Remarks() {
		b.WriteString("\n" + plain.Markdown(remark) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fence around a text, longer than any that the text has in it.
func fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func verdict(v v1alpha1.Verdict) string { return plain.Markdown(cmp.Or(string(v), "no verdict")) }

// Table writes a table below its title.
func Table(b *strings.Builder, t figures.Table) {
	fmt.Fprintf(b, "\n## %s\n\n", plain.Markdown(t.Title))
	cells(b, t.Head...)
	rule(b, len(t.Head))
	for _, row := range t.Rows {
		var texts []string
		for _, c := range row {
			texts = append(texts, c.Text())
		}
		cells(b, texts...)
	}
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- %s\n", plain.Markdown(note))
	}
}

func rule(b *strings.Builder, columns int) {
	b.WriteString(strings.Repeat("|---", columns) + "|\n")
}

func cells(b *strings.Builder, all ...string) {
	for _, text := range all {
		b.WriteString("| " + plain.Markdown(text) + " ")
	}
	b.WriteString("|\n")
}
