package agent

import (
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/engine"
)

// Stability is for how long a server has told the same of its group. It is pure.
type Stability struct {
	told  string
	since time.Time
}

// Follow takes what the server, of which this is the process, has said at a moment. What a server that is apart still applies is a change.
func (s *Stability) Follow(process string, l engine.GroupLook, at time.Time) time.Duration {
	told := fmt.Sprint(process, l.Primary, l.Component, slices.Sorted(slices.Values(l.Servers)))
	if !l.Primary {
		told = fmt.Sprint(told, l.Position)
	}
	if told != s.told || s.since.IsZero() || !l.Primary && l.Pending > 0 {
		*s = Stability{told, at}
	}
	return at.Sub(s.since)
}

// Silent notes that the server has not answered: what it said before may have changed and changed back.
func (s *Stability) Silent() { *s = Stability{} }
