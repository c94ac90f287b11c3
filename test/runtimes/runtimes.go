// Package runtimes shows where the time of runs went.
package runtimes

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/progress"
)

// Times is where the time of one run went.
type Times struct {
	Run   string
	Steps []progress.Step
}

// Where shows the times of runs, in seconds: a line each, a column for each step that took any, and the sums.
func Where(runs []Times) string {
	sum := Times{Run: "all"}
	for _, r := range runs {
		for _, s := range r.Steps {
			sum.add(s)
		}
	}
	slices.SortStableFunc(sum.Steps, func(a, b progress.Step) int { return place(a.Name) - place(b.Name) })
	width := len(sum.Run)
	for _, r := range runs {
		width = max(width, len(r.Run))
	}
	var b strings.Builder
	line := func(name string, cells func(progress.Step) string, last string) {
		fmt.Fprintf(&b, "%-*s", width, name)
		for _, column := range sum.Steps {
			if column.Seconds > 0 {
				fmt.Fprintf(&b, "  %*s", len(column.Name), cells(column))
			}
		}
		fmt.Fprintf(&b, "  %5s\n", last)
	}
	line("", func(s progress.Step) string { return s.Name }, "all")
	for _, r := range append(slices.Clone(runs), sum) {
		line(r.Run, func(column progress.Step) string {
			i := slices.IndexFunc(r.Steps, func(s progress.Step) bool { return s.Name == column.Name })
			if i < 0 {
				return ""
			}
			return fmt.Sprint(r.Steps[i].Seconds)
		}, fmt.Sprint(r.total()))
	}
	return b.String()
}

func (t *Times) add(s progress.Step) {
	for i := range t.Steps {
		if t.Steps[i].Name == s.Name {
			t.Steps[i].Seconds += s.Seconds
			return
		}
	}
	t.Steps = append(t.Steps, s)
}

func (t *Times) total() int64 {
	var sum int64
	for _, s := range t.Steps {
		sum += s.Seconds
	}
	return sum
}

// place puts what is no milestone last.
func place(name string) int {
	milestones := append(slices.Clone(v1alpha1.Steps), v1alpha1.ConditionComplete)
	if i := slices.Index(milestones, name); i >= 0 {
		return i
	}
	return len(milestones)
}
