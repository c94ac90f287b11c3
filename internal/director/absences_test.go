package director

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func TestAbsences(t *testing.T) {
	away := func(node string) func(*scene) {
		return func(s *scene) {
			s.state.Absences = []wire.DirectedAbsence{{Node: node, Absence: wire.Absence{LeftAt: metav1.NewMicroTime(now.Add(-5 * time.Second))}}}
		}
	}
	had := func(n int64) func(*observation) {
		return func(o *observation) { o.ExecutedBefore = transactions(n) }
	}
	for name, c := range map[string]struct {
		scene *scene
		want  []string // node, and whether it is back
	}{
		"nobody is away":                              {deployed(), nil},
		"a node that does not answer is":              {deployed().lose("c", 1), []string{"c away"}},
		"one that does not follow is":                 {deployed().see("c", func(o *observation) { o.IO = "CONNECTING" }), []string{"c away"}},
		"one that lags is not":                        {deployed().see("c", func(o *observation) { o.Executed = transactions(50) }), nil},
		"but is not back while it does":               {deployed().with(away("c")).see("a", had(90)).see("c", func(o *observation) { o.Executed = transactions(89) }), []string{"c away"}},
		"it is with all that was there a look before": {deployed().with(away("c")).see("a", had(90)).see("c", func(o *observation) { o.Executed = transactions(90) }), []string{"c back"}},
		"not where nobody knows how much that was":    {deployed().with(away("c")), []string{"c away"}},
		"nor while the primary does not answer":       {deployed().with(away("c")).lose("a", 1).see("a", had(90)), []string{"c away", "a away"}},
		"a primary is back when it is open":           {deployed().with(away("a")), []string{"a back"}},
		"not when it is not":                          {deployed().with(away("a")).see("a", func(o *observation) { o.Writable = false }), []string{"a away"}},
		"an old primary that is kept apart is not":    {returned().with(away("a")), []string{"a away"}},
		"before all were in their places nobody is":   {deployed().lose("c", 9).with(func(s *scene) { s.state.Configured = false }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range c.scene.decide().State.Absences {
				what := " away"
				if a.BackAt != nil {
					what = " back"
				}
				got = append(got, a.Node+what)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("absences are %v, want %v", got, c.want)
			}
		})
	}
	many := deployed().lose("c", 1)
	for range wire.MaxAbsences {
		many.state.Absences = append(many.state.Absences, wire.DirectedAbsence{Node: "b", Absence: wire.Absence{BackAt: &metav1.MicroTime{Time: now}}})
	}
	if got := many.decide().State.Absences; len(got) != wire.MaxAbsences || got[len(got)-1].Node != "c" {
		t.Errorf("%d absences, the last of %s", len(got), got[len(got)-1].Node)
	}
}

// checkAbsences: in the end nobody is away, and who came back did so after it had left.
func (m *model) checkAbsences(t *testing.T, story string, state wire.DirectorState) {
	t.Helper()
	if len(state.Absences) == 0 || len(state.Absences) > wire.MaxAbsences {
		t.Errorf("%s: %d absences", story, len(state.Absences))
	}
	for _, a := range state.Absences {
		if a.BackAt == nil || a.BackAt.Before(&a.LeftAt) {
			t.Errorf("%s: absence %+v", story, a)
		}
	}
}
