package counters

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// aloneSum adds up, of one node, what was committed while commits waited for nobody, where servers tell how they wait and count no waits. A
// setting that a server has read reaches its processes within moments, so a change counts as made in the interval before the sample that
// shows it or in the one after.
type aloneSum struct {
	// least are the transactions of intervals at both ends of which commits waited for nobody, by the same settings, as they did in the
	// interval before.
	least int64
	// atMost are those of intervals in which that may have been so, or in the one before.
	atMost int64
	alone  time.Duration // of the intervals of least

	spans []wire.DegradedSpan // of the intervals of atMost, and of those before a process that was alone at its first sample
	at    time.Time           // of the last sample

	certain, possible bool // in the interval before
}

// add takes an interval between two samples of one process, which were not read before the given times.
func (s *aloneSum) add(from, to time.Time, was, is engine.Waiting, transactions int64) {
	same := was.SettingsSince.Equal(is.SettingsSince)
	certain := was.Degraded && is.Degraded && same
	possible := was.Degraded || is.Degraded || (!same && (!was.Replica || !is.Replica))
	if certain && s.certain {
		s.least += transactions
		s.alone += to.Sub(from)
	}
	if possible || s.possible {
		s.atMost += transactions
		s.cover(from, to)
	}
	s.certain, s.possible, s.at = certain, possible, to
}

// begin takes the first sample of a process, the one before being of another one, or the beginning of the load, and when the node had
// acknowledged its last write by then. A replica acknowledges nothing: what the process before it may have had more nobody counts.
func (s *aloneSum) begin(before, at, wrote time.Time, is engine.Waiting) {
	to := at
	if is.Replica && wrote.Before(at) {
		to = wrote
	}
	if (is.Degraded || s.possible) && !to.Before(before) {
		s.cover(before, to)
	}
	s.certain, s.possible, s.at = false, !is.Replica, at
}

// cover draws an interval into the spans: into the last one where that reaches it, or where there are too many.
func (s *aloneSum) cover(from, to time.Time) {
	last := len(s.spans) - 1
	if last >= 0 && (len(s.spans) == wire.MaxAloneSpans || !s.spans[last].To.Time.Before(from)) {
		s.spans[last].To = metav1.NewMicroTime(to)
		return
	}
	s.spans = append(s.spans, wire.DegradedSpan{From: metav1.NewMicroTime(from), To: metav1.NewMicroTime(to)})
}

// until are the spans of a node that acknowledged its last write at a time: nobody has seen the end of one that was under way at the last
// sample.
func (s *aloneSum) until(wrote time.Time) []wire.DegradedSpan {
	if !s.possible || !wrote.After(s.at) {
		return s.spans
	}
	then := aloneSum{spans: slices.Clone(s.spans)}
	then.cover(s.at, wrote)
	return then.spans
}

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
