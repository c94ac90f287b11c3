package witness

import (
	"testing"
	"time"
)

func TestTheNodeThatMayTakeWritesIsSampledOften(t *testing.T) {
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := first.Add(time.Second)
	for name, c := range map[string]struct {
		wrote map[string]time.Time
		want  map[string]bool
	}{
		"nobody has":        {nil, map[string]bool{"a": true, "b": true}},
		"one has":           {map[string]time.Time{"a": first}, map[string]bool{"a": true, "b": false}},
		"another took over": {map[string]time.Time{"a": first, "b": later}, map[string]bool{"a": false, "b": true, "c": false}},
		"two at once":       {map[string]time.Time{"a": first, "b": first}, map[string]bool{"a": true, "b": true, "c": false}},
	} {
		t.Run(name, func(t *testing.T) {
			for node, want := range c.want {
				if got := mayTakeWrites(node, c.wrote); got != want {
					t.Errorf("%s: %v, want %v", node, got, want)
				}
			}
		})
	}
}
