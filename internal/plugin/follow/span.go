package follow

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span of time to three digits, with its unit.
func Span(d time.Duration) string {
	digits := func(v float64, unit string) string {
		switch {
		case v < 9.995:
			return strconv.FormatFloat(v, 'f', 2, 64) + " " + unit
		case v < 99.95:
			return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
		}
		return strconv.FormatFloat(v, 'f', 0, 64) + " " + unit
	}
	switch {
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < 999_500*time.Microsecond:
		return digits(float64(d)/float64(time.Millisecond), "ms")
	}
	return digits(d.Seconds(), "s")
}

// AtLeast is a lower bound: what is not shown of it is cut off, so that no more is stated than is known.
func AtLeast(d time.Duration) string { return "≥ " + Span(d.Truncate(place(d))) }

// Percentile is one, or the lower bound of it.
func Percentile(d time.Duration, bound bool) string {
	if bound {
		return AtLeast(d)
	}
	return Span(d)
}

// place is what the last digit that is shown of a time stands for.
func place(d time.Duration) time.Duration {
	unit := time.Second
	switch {
	case d < time.Millisecond:
		return time.Microsecond
	case d < time.Second:
		unit = time.Millisecond
	}
	switch {
	case d < 10*unit:
		return unit / 100
	case d < 100*unit:
		return unit / 10
	}
	return unit
}

// Seconds of a time that people wait, in whole ones.
func Seconds(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return strings.TrimSuffix(fmt.Sprintf("%d min %d s", s/60, s%60), " 0 s")
}
