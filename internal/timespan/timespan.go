// Package timespan adds up times that may overlap.
package timespan

import (
	"slices"
	"time"
)

// Span is the time from From to To; one that does not end after it begins is empty.
type Span struct{ From, To time.Time }

// Covered returns how long at least one of the spans lasts. It leaves spans as it is.
func Covered(spans []Span) (total time.Duration) {
	var end time.Time
	for _, s := range slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return a.From.Compare(b.From) }) {
		if s.From.Before(end) {
			s.From = end
		}
		if s.To.After(s.From) {
			total += s.To.Sub(s.From)
			end = s.To
		}
	}
	return total
}

// Later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
