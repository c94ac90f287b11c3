// Package markdown writes what came of a run for an issue or a page of notes. It is pure.
package markdown

import (
	"cmp"
	"fmt"
	"io"
	"strings"

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
	fmt.Fprintf(&b, "# %s: %s\n\n", line(r.Experiment), verdictOf(d))
	for _, reason := range r.Status.Reasons {
		fmt.Fprintf(&b, "- %s\n", line(reason))
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
		fmt.Fprintf(&b, "- %s\n", line(note))
	}
	fmt.Fprintf(&b, "\nTo repeat it:\n\n%[1]syaml\n%[2]s%[1]s\n", fence(repeat), repeat)
	_, err = io.WriteString(w, b.String())
	return err
}

// WriteSuite writes the report of a suite: verdict, reasons, tables and notes.
func WriteSuite(w io.Writer, d *suites.Document) error {
	var b strings.Builder
	s := d.Suite
	fmt.Fprintf(&b, "# %s: %s\n\n%s trials\n\n", line(s.Name), cmp.Or(string(s.Status.Verdict), "no verdict"), suites.Counts(s))
	for _, reason := range s.Status.Reasons {
		fmt.Fprintf(&b, "- %s\n", line(reason))
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
		fmt.Fprintf(&b, "- %s\n", line(note))
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

func verdictOf(d *figures.Document) string {
	if d.Status.Verdict == "" {
		return "no verdict"
	}
	return string(d.Status.Verdict)
}

// Table writes a table below its title.
func Table(b *strings.Builder, t figures.Table) {
	fmt.Fprintf(b, "\n## %s\n\n", line(t.Title))
	cells(b, t.Head...)
	b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
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
		fmt.Fprintf(b, "- %s\n", line(note))
	}
}

func cells(b *strings.Builder, all ...string) {
	for _, text := range all {
		b.WriteString("| " + strings.ReplaceAll(line(text), "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

// escaped takes from others' texts what would begin a line, an element, a link, a picture, or a mention of somebody.
var escaped = strings.NewReplacer("\n", " ", "\r", " ", "<", "&lt;", "[", `\[`, "!", `\!`, "@", "@\u200b")

// line is a text that begins no other line, and no markup.
func line(text string) string {
	return escaped.Replace(text)
}
