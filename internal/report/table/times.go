package table

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

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

// Times is where the time of one run went.
type Times struct {
	Run   string
	Steps []Step
}

// Where shows the times of runs, in seconds: a line each, a column for each step that took any, and the sums.
func Where(runs []Times) string {
	sum := Times{Run: "all"}
	for _, r := range runs {
		for _, s := range r.Steps {
			sum.add(s)
		}
	}
	slices.SortStableFunc(sum.Steps, func(a, b Step) int { return place(a.Name) - place(b.Name) })
	width := len(sum.Run)
	for _, r := range runs {
		width = max(width, len(r.Run))
	}
	var b strings.Builder
	line := func(name string, cells func(Step) string, last string) {
		fmt.Fprintf(&b, "%-*s", width, name)
		for _, column := range sum.Steps {
			if column.Seconds > 0 {
				fmt.Fprintf(&b, "  %*s", len(column.Name), cells(column))
			}
		}
		fmt.Fprintf(&b, "  %5s\n", last)
	}
	line("", func(s Step) string { return s.Name }, "all")
	for _, r := range append(slices.Clone(runs), sum) {
		line(r.Run, func(column Step) string {
			i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == column.Name })
			if i < 0 {
				return ""
			}
			return fmt.Sprint(r.Steps[i].Seconds)
		}, fmt.Sprint(r.total()))
	}
	return b.String()
}

func (t *Times) add(s Step) {
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
	if i := slices.Index(milestones, name); i >= 0 {
		return i
	}
	return len(milestones)
}
