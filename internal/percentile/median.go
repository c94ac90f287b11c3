package percentile

import "slices"

// Median is the middle one of values, of which there must be one at least; of an even number the mean of the middle two. Percentile 50 is one
// of the values instead, the lower of these two.
func Median[T int64 | float64](values []T) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (float64(sorted[(n-1)/2]) + float64(sorted[n/2])) / 2
}
