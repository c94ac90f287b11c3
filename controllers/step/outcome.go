// Package step holds what a step of a run comes to.
package step

import (
	"fmt"
	"time"
)

// Outcome is what a step came to: done, wait or terminal.
type Outcome struct {
	Done bool
	// After is when to come back, 0 for at once, after the status was written.
	After time.Duration
	// Reason is a word for the condition, Message a sentence for people. Neither changes while nothing changes, and nothing is
	// steered by them.
	Reason, Message string
	// Terminal ends the run before its time.
	Terminal bool
}

// Done lets the run go on with the next step.
func Done() Outcome { return Outcome{Done: true} }

// Wait comes back to the step after a time.
func Wait(after time.Duration, reason, format string, args ...any) Outcome {
	return Outcome{After: after, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Terminal ends the run: Inconclusive, for this reason.
func Terminal(reason, format string, args ...any) Outcome {
	return Outcome{Terminal: true, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Both comes back at the sooner time of two outcomes that are not terminal. While both wait, the first is what is said.
func Both(a, b Outcome) Outcome {
	switch {
	case a.Done:
		return b
	case !b.Done:
		a.After = min(a.After, b.After)
	}
	return a
}
