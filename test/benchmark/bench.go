// Package benchmark prints what `make bench` measures, one line a figure. Benches are tests that are skipped elsewhere: they
// assert that what they measure did its work, and nothing about time.
package benchmark

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/percentile"
)

// Env is the environment variable that turns the benches on.
const Env = "REPLAB_BENCH"

// prefix marks the figures among what `go test -v` prints; the Makefile shows what follows it.
const prefix = "bench: "

// Skip skips a test unless figures are asked for.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv(Env) == "" {
		t.Skipf("prints figures: set %s=1", Env)
	}
}

// Figure is one line: what was measured, its value, and the target if it has one.
type Figure struct {
	What     string
	Measured string // what the value was made from, with units; may be empty
	Value    float64
	Unit     string // of Value and Target; empty for a ratio
	Target   Target
	Pairs    []float64 // the ratio of each pair, when Value is their median
}

// Target is a limit for a value. The zero Target is none.
type Target struct {
	sign  string
	limit float64
}

// AtLeast is reached by the limit and what is above.
func AtLeast(limit float64) Target { return Target{">=", limit} }

// AtMost is reached by the limit and what is below.
func AtMost(limit float64) Target { return Target{"<=", limit} }

// OfPairs returns the figure whose value is the median of the pairs' ratios.
func OfPairs(what, measured string, ratios []float64, target Target) Figure {
	return Figure{What: what, Measured: measured, Value: percentile.Median(ratios), Target: target, Pairs: ratios}
}

// Print writes the line to the standard output.
func (f Figure) Print() { fmt.Println(prefix + f.line()) }

func (f Figure) line() string {
	value := number(f.Value, f.Unit)
	line := fmt.Sprintf("%-46s %-44s %11s  %-11s %-11s", f.What, f.Measured, value, f.target(), f.verdict())
	if len(f.Pairs) > 0 {
		line += "  " + spread(f.Pairs)
	}
	return strings.TrimRight(line, " ")
}

// spread is how many pairs there are, and the interval that has the true median in it with 95% confidence: by the order of the
// ratios, of which each is as likely above the median as below. Fewer than six cannot have one: it is from the least to the most.
func spread(ratios []float64) string {
	sorted, n := slices.Sorted(slices.Values(ratios)), len(ratios)
	if n < 6 {
		return fmt.Sprintf("%d pairs, %.3f to %.3f", n, sorted[0], sorted[n-1])
	}
	rank := max(int((float64(n)-1.96*math.Sqrt(float64(n)))/2), 1)
	return fmt.Sprintf("%d pairs, 95%%: %.3f to %.3f", n, sorted[rank-1], sorted[n-rank])
}

// number shows a ratio to a thousandth.
func number(v float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%.3f", v)
	}
	return digits(v) + " " + unit
}

// digits shows at least three.
func digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (f Figure) target() string {
	if f.Target.sign == "" {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s %g %s", f.Target.sign, f.Target.limit, f.Unit))
}

func (f Figure) verdict() string {
	switch {
	case f.Target.sign == "":
		return ""
	case f.Target.sign == ">=" && f.Value >= f.Target.limit, f.Target.sign == "<=" && f.Value <= f.Target.limit:
		return "reached"
	}
	return "not reached"
}
