// Package table says in lines for people where an experiment stands and what came of it. It is pure.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/results"
)

// Progress is where an experiment stands, in one line.
func Progress(x *v1alpha1.ReplicationExperiment) string {
	if x.Status.Phase == "" {
		return "Waiting for the operator"
	}
	for _, c := range x.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Type != v1alpha1.ConditionPassed && c.Message != "" {
			return x.Status.Phase + ": " + Plain(c.Message)
		}
	}
	return x.Status.Phase
}

// Result shows what came of an experiment, a line each. What was not measured is left out.
func Result(x *v1alpha1.ReplicationExperiment) string {
	b := &strings.Builder{}
	s := x.Status
	Row(b, "Verdict", string(s.Verdict))
	for _, t := range figures.Of(results.Results{Experiment: x.Name, Namespace: x.Namespace, Spec: x.Spec, Status: s}).Tables() {
		if !t.Detail {
			lines(b, t)
		}
	}
	for _, reason := range s.Reasons {
		Row(b, "Reason", reason)
	}
	for _, note := range s.Notes {
		Row(b, "Note", note)
	}
	if s.Results != "" {
		Row(b, "Results", "ConfigMap "+s.Results)
	}
	return b.String()
}

// lines of a table: one for all figures of the run, else one for each row.
func lines(b *strings.Builder, t figures.Table) {
	if slices.Equal(t.Head, figures.FigureHead) {
		var all []string
		for _, r := range t.Rows {
			all = append(all, known(r[0].Words, r[2]))
		}
		Row(b, t.Title, append(all, t.Notes...)...)
		return
	}
	for _, r := range t.Rows {
		all := make([]string, 0, len(r))
		for i, c := range r[1:] {
			all = append(all, known(t.Head[i+1], c))
		}
		all = slices.DeleteFunc(all, func(part string) bool { return part == "" })
		Row(b, strings.ToUpper(t.Head[0][:1])+t.Head[0][1:], r[0].Words+": "+strings.Join(all, ", "))
	}
}

// known is a cell with its title; "" of one without words or figure.
func known(title string, c figures.Cell) string {
	if c.Words == "" && (c.Figure == nil || c.Figure.Value == nil) {
		return ""
	}
	return title + " " + c.Text()
}

// Row writes a line of the parts that are not empty; without any, none.
func Row(w io.Writer, name string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		fmt.Fprintf(w, "%-15s  %s\n", name, Plain(strings.Join(parts, ", ")))
	}
}

// Step is a milestone that a run has reached, with how long that took from the one before.
type Step struct {
	Name    string
	Seconds int64
}

// milestones in their order.
var milestones = append(slices.Clone(v1alpha1.Steps), v1alpha1.ConditionComplete)

// Steps lists the milestones that a run has reached, the first one counted from its creation. A condition's time is to the second, so
// each may be wrong by one; their sum is not.
func Steps(x *v1alpha1.ReplicationExperiment) []Step {
	var found []Step
	before := x.CreationTimestamp.Time
	for _, name := range milestones {
		i := slices.IndexFunc(x.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == name && c.Status == metav1.ConditionTrue
		})
		if i < 0 {
			continue
		}
		at := x.Status.Conditions[i].LastTransitionTime.Time
		if at.Before(before) { // two that are reached side by side
			at = before
		}
		found = append(found, Step{name, int64(at.Sub(before).Seconds())})
		before = at
	}
	return found
}

// Plain is a text of others in one line: what would move a terminal's cursor, change what it shows or turn its order round is a blank.
func Plain(text string) string { return blank(text, "") }

// Harmless is a text of others with its lines and tabs, which a terminal shows and does not obey.
func Harmless(text string) string { return blank(text, "\n\t") }

// Escaped is JSON with the same content, in which what a terminal obeys is escaped: the encoder leaves in a part of it.
func Escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if obeyed(r) && r != '\n' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func blank(text, keep string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) && !strings.ContainsRune(keep, r) {
			return ' '
		}
		return r
	}, text)
}

func obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
