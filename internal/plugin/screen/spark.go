// Package screen draws a run for a terminal. It is pure: what is drawn is told by follow.View alone.
package screen

import "strings"

// levels of a sparkline, the lowest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// absent marks a second without a figure.
const absent = '·'

// Spark draws values from 0 to the highest of them, the newest last, as many as fit; below 0 is a second without a figure.
func Spark(values []int64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	most := int64(0)
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteRune(absent)
		case most == 0:
			b.WriteRune(levels[0])
		default:
			b.WriteRune(levels[int(v*int64(len(levels)-1)/most)])
		}
	}
	return b.String()
}

// Bar draws how much of a whole is behind.
func Bar(done, whole int64, width int) string {
	full := width
	if whole > 0 && done < whole {
		full = int(done * int64(width) / whole)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
