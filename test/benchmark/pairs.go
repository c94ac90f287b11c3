package benchmark

import "math/rand/v2"

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
