package controllers

import (
	"fmt"
	"time"
)

// Outcome is what a step came to.
type Outcome struct {
	done    bool
	after   time.Duration
	reason  string
	message string
	// terminal ends the run before its time.
	terminal bool
}

// Done lets the run go on with the next step.
func Done() Outcome { return Outcome{done: true} }

// Wait comes back to the step after a time. reason is a word for the condition, message a sentence for people; neither
// changes while nothing changes.
func Wait(after time.Duration, reason, format string, args ...any) Outcome {
	return Outcome{after: after, reason: reason, message: fmt.Sprintf(format, args...)}
}

// Terminal ends the run: Inconclusive, for this reason.
func Terminal(reason, format string, args ...any) Outcome {
	return Outcome{terminal: true, reason: reason, message: fmt.Sprintf(format, args...)}
}

// both comes back at the sooner time of two outcomes that are not terminal. While both wait, the first is what is said.
func both(a, b Outcome) Outcome {
	switch {
	case a.done:
		return b
	case !b.done:
		a.after = min(a.after, b.after)
	}
	return a
}
