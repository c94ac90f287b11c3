package counters

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// standbySpans keep for which nodes the commits of one node waited.
type standbySpans struct{ spans []wire.StandbySpan }

// add takes an interval between two samples of one process. Where its two ends differ, both are true of a part of it.
func (s *standbySpans) add(from, to time.Time, was, is engine.Waiting) {
	if !was.SettingsSince.Equal(is.SettingsSince) && to.Sub(from) > 2*Interval {
		return // they may have been others in between
	}
	s.cover(from, to, was.Standbys)
	if !slices.Equal(was.Standbys, is.Standbys) {
		s.cover(from, to, is.Standbys)
	}
}

func (s *standbySpans) cover(from, to time.Time, nodes []string) {
	last := len(s.spans) - 1
	switch {
	case len(nodes) == 0:
	case last >= 0 && slices.Equal(s.spans[last].Nodes, nodes) && !s.spans[last].To.Time.Before(from):
		s.spans[last].To = metav1.NewMicroTime(to)
	case len(s.spans) < wire.MaxStandbySpans:
		s.spans = append(s.spans, wire.StandbySpan{From: metav1.NewMicroTime(from), To: metav1.NewMicroTime(to), Nodes: nodes})
	}
}
