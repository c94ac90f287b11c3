package distance

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/verdict/finding"
)

func TestStagesWithoutDistance(t *testing.T) {
	set := func(from, to int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Distance.Nodes[0].LinkingTime, e.Distance.Nodes[0].LinkedTime = evidencetest.AtPtr(from), evidencetest.AtPtr(to)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		says   string
	}{
		{"the links were set in the stage between", func(*evidence.Run) {}, ""},
		{"perhaps begun in the stage before", set(10_002, 12_000), "perhaps outside stage leave"},
		{"certainly begun in the stage between", set(10_003, 12_000), ""},
		{"perhaps ended in the stage after", set(12_000, 20_001), "perhaps outside stage leave"},
		{"certainly ended before the stage after", set(12_000, 20_000), ""},
		{"never", func(e *evidence.Run) { e.Distance.Nodes[0].LinkedTime, e.Distance.Nodes[0].WithoutDistance = nil, true }, "were not set after the stages without distance"},
		{"by an agent that was replaced meanwhile", func(e *evidence.Run) {
			n := &e.Distance.Nodes[0]
			n.LinkedTime, n.WithoutDistance, n.Linked = nil, true, false
		}, "were not set after the stages without distance"},
		{"by a clock that nobody knows", func(e *evidence.Run) { e.Recorder.Clocks = nil }, "its clock was not measured"},
		{"a node with no link", func(e *evidence.Run) { e.Distance.Nodes[0] = v1alpha1.LinkedNodeStatus{Name: "db-9"} }, ""},
		{"a stage between that never came", func(e *evidence.Run) { e.Recorder.Stages[1].StartedAt = nil }, "perhaps outside stage leave"},
		{"links that had not ended", func(e *evidence.Run) { e.Distance.RoundTrips[0].WithoutDistance.P50Microseconds = 20_000 }, "was 20000 µs before the load, without distance, instead of 0 µs"},
		{"links of which nobody knows that they had ended", func(e *evidence.Run) { e.Distance.RoundTrips[0].WithoutDistance = nil }, "was not measured before the load, without distance"},
	} {
		e := evidencetest.WithoutDistanceFirst()
		c.change(&e)
		found := texts(distanceUnsound(e))
		if !strings.Contains(found, c.says) || (found == "") != (c.says == "") {
			t.Errorf("%s: %q, want %q", c.name, found, c.says)
		}
	}
}

func texts(findings []finding.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}
