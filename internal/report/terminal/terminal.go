// Package terminal lays lines and columns out for a terminal. In a pipe each line stays whole, so that programs find it. It is pure.
package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"replab.dev/internal/plain"
)

// Screen is the writer of a terminal with so many columns. Any other writer has lines of any length.
type Screen struct {
	io.Writer
	Columns int
}

// Width of a writer's lines, 0 without a limit.
func Width(w io.Writer) int {
	if s, ok := w.(Screen); ok {
		return s.Columns
	}
	return 0
}

// labels is how many columns the names of rows have.
const labels = 10

// Row writes the parts that are not empty, below one another where they do not fit; without any, none.
func Row(w io.Writer, name string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		fmt.Fprintln(w, Fold(fmt.Sprintf("%-*s", labels, name)+plain.Line(strings.Join(parts, ", ")), Width(w), labels))
	}
}
