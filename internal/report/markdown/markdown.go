// Package markdown writes what came of a run for an issue or a page of notes. It is pure.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/html"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/results"
)

// Write the report of one run: verdict, reasons, notes, goals, figures, stages, nodes, and the YAML that repeats it.
func Write(w io.Writer, r results.Results) error {
	d := figures.Of(r)
	repeat, err := html.Repeat(r)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", line(r.Experiment), verdictOf(d))
	for _, reason := range r.Status.Reasons {
		fmt.Fprintf(&b, "- %s\n", line(reason))
	}
	if len(r.Status.Notes) > 0 {
		b.WriteString("\nLimits of the figures:\n\n")
	}
	for _, note := range r.Status.Notes {
		fmt.Fprintf(&b, "- %s\n", line(note))
	}
	if len(r.Status.Goals) > 0 {
		table(&b, "goal", "limit", "measured", "outcome")
		for _, g := range r.Status.Goals {
			cells(&b, string(g.Metric), g.Limit, d.Goal(g.Metric).Text(), wording.Met(g.Met))
		}
	}
	table(&b, "figure", "value", "why it is not exact")
	for _, path := range figures.Main() {
		f := d.Figure(path)
		cells(&b, "`"+path+"`", f.Text(), f.Because)
	}
	if r.Status.Load != nil {
		stages(&b, d)
	}
	if len(r.Status.Faults) > 0 {
		table(&b, "fault", "pod", "state", "outage", "loss window", "back after")
		for _, f := range r.Status.Faults {
			p := "status.faults[" + f.Name + "]."
			cells(&b, f.Name, f.Pod, string(f.State), d.Figure(p+"outageMilliseconds").Text(), d.Figure(p+"lossWindowMilliseconds").Text(), d.Figure(p+"rejoinMilliseconds").Text())
		}
	}
	if len(r.Status.Nodes) > 0 {
		table(&b, "node", "role", "rows", "missing", "ghost writes", "lag p99")
		for _, n := range r.Status.Nodes {
			p := "status.nodes[" + n.Name + "]."
			cells(&b, n.Name, string(n.Role), d.Figure(p+"rows").Text(), d.Figure(p+"missing").Text(), d.Figure(p+"ghostWrites").Text(), d.Figure(p+"lag.p99Microseconds").Text())
		}
	}
	fmt.Fprintf(&b, "\nTo repeat it:\n\n%[1]syaml\n%[2]s%[1]s\n", fence(repeat), repeat)
	_, err = io.WriteString(w, b.String())
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

func stages(b *strings.Builder, d *figures.Document) {
	table(b, "stage", "requests", "failed", "succeeded a second", "p50", "p95", "p99", "longest")
	for _, s := range d.Status.Load.Stages {
		line := []string{s.Name}
		for _, name := range []string{"requests", "failures", "requestsPerSecondMilli", "latency.p50Microseconds", "latency.p95Microseconds", "latency.p99Microseconds", "latency.maxMicroseconds"} {
			line = append(line, d.Figure("status.load.stages["+s.Name+"]."+name).Text())
		}
		cells(b, line...)
	}
}

// table begins one.
func table(b *strings.Builder, head ...string) {
	b.WriteString("\n")
	cells(b, head...)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
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
