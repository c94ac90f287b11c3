// Package percentile reads percentiles off histograms by nearest rank, exactly: the value of rank ceil(p/100 x n) of n.
package percentile

import (
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"replab.dev/internal/wire"
)

// Rank is the rank of a percentile from 1 to 100 among n values, of which there must be one at least: from 1, the smallest,
// to n. It is of whole numbers, since 0.99 x n in floating point may lie above the whole number that it is.
func Rank(percent, n int64) int64 {
	whole, rest := n/100, n%100 // percent x n may be more than there are numbers
	return percent*whole + (percent*rest+99)/100
}

// LeavesOutLess reports whether a percentile leaves out less than a part of a whole.
func LeavesOutLess(percent, part, whole int64) bool {
	return float64(part)*100 > float64(100-percent)*float64(whole)
}

// Moves reports whether a part of a whole, of values that are not known, may move a percentile much: more than 1%, and more than a tenth of what the
// percentile leaves out. Any may be the maximum.
func Moves(percent, part, whole int64) bool {
	if percent == 100 {
		return part > 0
	}
	return float64(part)*1000 > float64(max(10, 100-percent))*float64(whole)
}

// At returns the value of a rank, from 1 to the histogram's count, to the histogram's digits. The library itself knows
// percentiles only, which it rounds to the nearest rank: of 51 to 99 values its 99th is one rank low.
func At(h *hdrhistogram.Histogram, rank int64) int64 {
	return h.ValueAtPercentile(100 * float64(rank) / float64(h.TotalCount()))
}

// Buckets are those of a histogram, joined to four for each doubling: their ends are ends of its own, so each value is in its place.
func Buckets(h *hdrhistogram.Histogram) (all []wire.Bucket) {
	if h == nil {
		return nil
	}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		shift := max(bits.Len64(uint64(bar.From))-3, 0)
		from := bar.From >> shift << shift
		if n := len(all) - 1; n >= 0 && all[n].FromMicroseconds == from {
			all[n].Count += bar.Count
			continue
		}
		all = append(all, wire.Bucket{FromMicroseconds: from, ToMicroseconds: from + 1<<shift, Count: bar.Count})
	}
	return all
}

// Median is the middle one of values, of which there must be one at least; of an even number the mean of the middle two. Percentile 50 is one
// of the values instead, the lower of these two.
func Median[T int64 | float64](values []T) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (float64(sorted[(n-1)/2]) + float64(sorted[n/2])) / 2
}
