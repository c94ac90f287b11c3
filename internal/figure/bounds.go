package figure

import (
	"slices"

	"replab.dev/api/v1alpha1"
)

// Bounds collects what is known of figures that are not exact. A figure has one entry: a later one replaces it.
type Bounds []v1alpha1.BoundStatus

// AtLeast says that a figure is at least low.
func (b *Bounds) AtLeast(path string, low int64, because string) {
	b.set(v1alpha1.BoundStatus{Figure: path, AtLeast: &low, Because: because})
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
