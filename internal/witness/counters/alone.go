package counters

import (
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

	spans []wire.AloneSpan
	open  bool // the last span goes on
	fades bool // the sample before was the first that was not alone

	certain, possible bool // in the interval before
}

// add takes an interval between two samples of one process, which were not read before the given times.
func (s *aloneSum) add(from, to time.Time, was, is engine.Waiting, transactions int64) {
	same := was.SettingsSince.Equal(is.SettingsSince)
	certain := was.Alone && is.Alone && same
	possible := was.Alone || is.Alone || (!same && (!was.Replica || !is.Replica))
	if certain && s.certain {
		s.least += transactions
		s.alone += to.Sub(from)
	}
	if possible || s.possible {
		s.atMost += transactions
	}
	s.certain, s.possible = certain, possible
	if was.Alone && !s.open { // before the load
		s.note(from, from, true)
	}
	s.note(from, to, is.Alone)
}

// begin takes the first sample of a process, the one before being of another one, or the beginning of the load.
func (s *aloneSum) begin(before, at time.Time, is engine.Waiting) {
	s.certain, s.possible = false, !is.Replica
	s.note(before, at, is.Alone)
}

// note draws the span that a sample belongs to: from the sample before the first that is alone to the second after the last.
func (s *aloneSum) note(before, at time.Time, alone bool) {
	last := len(s.spans) - 1
	switch {
	case alone && !s.open && len(s.spans) < wire.MaxAloneSpans && !s.meets(before):
		s.spans = append(s.spans, wire.AloneSpan{From: metav1.NewMicroTime(before), To: metav1.NewMicroTime(at)})
		s.open, s.fades = true, false
	case alone:
		s.spans[last].To = metav1.NewMicroTime(at)
		s.open, s.fades = true, false
	case s.open:
		s.spans[last].To = metav1.NewMicroTime(at)
		s.open, s.fades = !s.fades, true
	}
}

// meets tells whether the last span lasts until a time.
func (s *aloneSum) meets(t time.Time) bool {
	last := len(s.spans) - 1
	return last >= 0 && !s.spans[last].To.Time.Before(t)
}
