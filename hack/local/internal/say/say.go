// Package say prints progress: one plain line per thing that was done
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
	done(begin, what)
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
	done(begin, what)
	return nil
}

// done prints what was done, and adds it to the file of PARTS_FILE, from which
// hack/parts prints where the time of a whole target went.
func done(begin time.Time, what string) {
	Line("  %9s  %s", took(begin), what)
	path, seconds := os.Getenv("PARTS_FILE"), time.Since(begin).Seconds()
	if path == "" || seconds < 1 {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return // the line above has said it
	}
	defer f.Close()
	fmt.Fprintf(f, "%.0f\t  %s\n", seconds, what)
}

// took is the time since begin in a form of constant precision.
func took(begin time.Time) string {
	return fmt.Sprintf("%.1f s", time.Since(begin).Seconds())
}
