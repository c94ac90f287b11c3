// Package figure says what a measured figure is: a value with the bounds that the true one lies between, and why it is not exact. Its catalogue
// lists every figure of a run. It is pure.
package figure

import "math"

// Figure is one number of a run with what is known of it.
type Figure struct {
	// Path of the field, such as load.latency.p99Microseconds. Its last part ends in the unit.
	Path string
	// Value of the field, nil where it is absent.
	Value *int64
	// AtLeast and AtMost bound the true figure. Both equal Value for an exact figure; nil is no bound on that side.
	AtLeast, AtMost *int64
	// Because says why the figure is not exact, or why it is absent; "" for an exact one.
	Because string
}

// Exact returns a figure that is known.
func Exact(path string, value int64) Figure {
	return Figure{Path: path, Value: &value, AtLeast: &value, AtMost: &value}
}

// IsExact tells whether the value is the figure itself.
func (f Figure) IsExact() bool {
	return f.Value != nil && f.AtLeast != nil && f.AtMost != nil && *f.AtLeast == *f.Value && *f.AtMost == *f.Value
}

// Doubtful tells of a value that nothing bounds: another figure contradicts it.
func (f Figure) Doubtful() bool { return f.Value != nil && f.AtLeast == nil && f.AtMost == nil }

// Interval that the true figure lies in: from math.MinInt64, or to math.MaxInt64, where there is no bound on that side.
func (f Figure) Interval() (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	if f.AtLeast != nil {
		low = *f.AtLeast
	}
	if f.AtMost != nil {
		high = *f.AtMost
	}
	return low, high
}
