// Package figure says what a measured figure is: a value with the bounds that the true one lies between, and why it is not exact. Its catalogue
// lists every figure of a run. It is pure.
package figure

import (
	"math"
	"slices"

	"replab.dev/api/v1alpha1"
)

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

// Bounds collects what is known of figures that are not exact. A figure has one entry: a later one replaces it.
type Bounds []v1alpha1.BoundStatus

// AtLeast says that a figure is at least low.
func (b *Bounds) AtLeast(path string, low int64, because string) {
	b.set(v1alpha1.BoundStatus{Figure: path, AtLeast: &low, Because: because})
}

// AtMost says that a figure is at most high.
func (b *Bounds) AtMost(path string, high int64, because string) {
	b.set(v1alpha1.BoundStatus{Figure: path, AtMost: &high, Because: because})
}

// Between says that a figure is between low and high. Where these are equal the figure is exact, and there is nothing to say.
func (b *Bounds) Between(path string, low, high int64, because string) {
	if low != high {
		b.set(v1alpha1.BoundStatus{Figure: path, AtLeast: &low, AtMost: &high, Because: because})
	}
}

// Unknown says why nothing is known of a figure: it is absent, or its value is contradicted.
func (b *Bounds) Unknown(path, because string) {
	b.set(v1alpha1.BoundStatus{Figure: path, Because: because})
}

// Worsened says that something else made a figure worse: the true one may be better by any amount.
func (b *Bounds) Worsened(s *v1alpha1.ReplicationExperimentStatus, path string, better Direction, because string) {
	f := of(At(s, path), path, *b)
	switch {
	case f.Value == nil || f.Doubtful():
	case better == Lower:
		b.set(v1alpha1.BoundStatus{Figure: path, AtMost: f.AtMost, Because: because})
	default:
		b.set(v1alpha1.BoundStatus{Figure: path, AtLeast: f.AtLeast, Because: because})
	}
}

// mostBecause is how many characters the API server takes.
const mostBecause = 512

func (b *Bounds) set(s v1alpha1.BoundStatus) {
	if words := []rune(s.Because); len(words) > mostBecause {
		s.Because = string(words[:mostBecause-1]) + "…"
	}
	*b = append(slices.DeleteFunc(*b, func(o v1alpha1.BoundStatus) bool { return o.Figure == s.Figure }), s)
}

// Read returns the figure at a path of a status with what its bounds say.
func Read(s *v1alpha1.ReplicationExperimentStatus, path string) Figure {
	return of(At(s, path), path, s.Bounds)
}

func of(value *int64, path string, bounds []v1alpha1.BoundStatus) Figure {
	f := Figure{Path: path, Value: value}
	if i := slices.IndexFunc(bounds, func(b v1alpha1.BoundStatus) bool { return b.Figure == path }); i >= 0 {
		f.AtLeast, f.AtMost, f.Because = bounds[i].AtLeast, bounds[i].AtMost, bounds[i].Because
		return f
	}
	f.AtLeast, f.AtMost = f.Value, f.Value
	return f
}
