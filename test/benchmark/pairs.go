package benchmark

import (
	"fmt"
	"math/rand/v2"

	"replab.dev/internal/percentile"
)

// Pairs measures a and b n times each, in pairs whose order is random: what else goes on, and drifts, on the machine then
// favours neither of them.
func Pairs[T any](n int, a, b func() T) (as, bs []T) {
	for range n {
		if rand.IntN(2) == 0 {
			as = append(as, a())
			bs = append(bs, b())
		} else {
			bs = append(bs, b())
			as = append(as, a())
		}
	}
	return as, bs
}

// Ratios returns a figure of each of as by that of its partner in bs.
func Ratios[T any](as, bs []T, figure func(T) float64) []float64 {
	ratios := make([]float64, len(as))
	for i := range as {
		ratios[i] = figure(as[i]) / figure(bs[i])
	}
	return ratios
}

// Both names the medians of a figure: "700/s with, 720/s without"; unit is what follows a figure.
func Both[T any](as []T, nameA string, bs []T, nameB string, figure func(T) float64, unit string) string {
	median := func(all []T) float64 {
		var figures []float64
		for _, one := range all {
			figures = append(figures, figure(one))
		}
		return percentile.Median(figures)
	}
	return fmt.Sprintf("%s%s %s, %s%s %s", digits(median(as)), unit, nameA, digits(median(bs)), unit, nameB)
}
