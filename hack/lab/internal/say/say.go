// Package say prints the lab's progress: one plain line per thing that was done
// and how long it took, which reads as well in a terminal as in a log file.
package say

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Out is where progress goes; tests replace it.
var Out io.Writer = os.Stdout

// slow is how long a thing may take before its beginning deserves a line too.
const slow = 2 * time.Second

// Line prints one line at once.
func Line(format string, args ...any) {
	fmt.Fprintf(Out, format+"\n", args...)
}

// Step runs do and prints what it was and how long it took. When do takes a
// while, a line says so in advance, so that nobody watches a silent terminal.
func Step(what string, do func() error) error {
	begin := time.Now()
	announced := time.AfterFunc(slow, func() { Line("  ...        %s", what) })
	err := do()
	announced.Stop()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	Line("  %9s  %s", took(begin), what)
	return nil
}

// Slow is Step for what is usually done in a moment: it prints nothing then.
func Slow(what string, do func() error) error {
	begin := time.Now()
	announced := time.AfterFunc(slow, func() { Line("  ...        %s", what) })
	err := do()
	if announced.Stop() || err != nil {
		return err
	}
	Line("  %9s  %s", took(begin), what)
	return nil
}

// took is the time since begin in a form of constant precision.
func took(begin time.Time) string {
	return fmt.Sprintf("%.1f s", time.Since(begin).Seconds())
}
