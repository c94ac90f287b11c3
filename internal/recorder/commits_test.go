package recorder

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/recorder/counters"
)

// countedReads is a Counter that counts how often it is asked.
type countedReads int

func (r *countedReads) Counts(context.Context) (engine.Commits, error) {
	*r++
	return engine.Commits{}, nil
}

func (*countedReads) Close() error { return nil }

func TestTheNodeThatTakesTheWritesIsSampledOften(t *testing.T) {
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := first.Add(time.Second)
	for name, c := range map[string]struct {
		wrote map[string]time.Time
		want  map[string]int // samples in 10 s
	}{
		"nobody has":                  {nil, map[string]int{"a": 100, "b": 100, "c": 100}},
		"one has":                     {map[string]time.Time{"a": first}, map[string]int{"a": 100, "b": 10, "c": 10}},
		"another took over":           {map[string]time.Time{"a": first, "b": later}, map[string]int{"a": 10, "b": 100, "c": 10}},
		"two at once":                 {map[string]time.Time{"a": first, "b": first}, map[string]int{"a": 100, "b": 100, "c": 10}},
		"one whose name is no node's": {map[string]time.Time{"x": first}, map[string]int{"a": 100, "b": 100, "c": 100}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &commits{nodes: []string{"a", "b", "c"}, now: time.Now, wrote: func() map[string]time.Time { return c.wrote }, counting: func() bool { return false }, often: commitInterval, sum: &counters.Commits{}}
				asked := make([]countedReads, len(s.nodes)) // each by its own goroutine
				for i := range asked {
					s.counters = append(s.counters, &asked[i])
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+commitInterval/2)
				defer cancel()
				s.watch(ctx)
				got := map[string]int{}
				for i, name := range s.nodes {
					got[name] = int(asked[i])
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("samples (-want +got):\n%s", diff)
				}
			})
		})
	}
}
