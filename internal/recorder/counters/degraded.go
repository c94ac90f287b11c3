package counters

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// degradedSum sums what one node committed while commits waited for no standby, for servers that report their settings and count no waits.
// A change of settings may take effect in the interval before the sample that shows it, or in the one after.
type degradedSum struct {
	least  int64         // transactions of intervals certainly without a wait, as the interval before them
	atMost int64         // transactions of intervals possibly without a wait, or after such an interval
	sum    time.Duration // of the intervals of least

	spans []wire.DegradedSpan // of the intervals of atMost, and of those before a process that was degraded at its first sample
	at    time.Time           // of the last sample

	certain, possible bool // in the interval before
}

// add takes an interval between two samples of one process.
func (s *degradedSum) add(from, to time.Time, was, is engine.Waiting, transactions int64) {
	same := was.SettingsSince.Equal(is.SettingsSince)
	certain := was.Degraded && is.Degraded && same
	possible := was.Degraded || is.Degraded || (!same && (!was.Replica || !is.Replica))
	if certain && s.certain {
		s.least += transactions
		s.sum += to.Sub(from)
	}
	if possible || s.possible {
		s.atMost += transactions
		s.cover(from, to)
	}
	s.certain, s.possible, s.at = certain, possible, to
}

// begin takes the first sample of a process. before is the last sample of the previous process, or the load's start; wrote is the node's last
// acknowledged write. A replica acknowledges nothing.
func (s *degradedSum) begin(before, at, wrote time.Time, is engine.Waiting) {
	to := at
	if is.Replica && wrote.Before(at) {
		to = wrote
	}
	if (is.Degraded || s.possible) && !to.Before(before) {
		s.cover(before, to)
	}
	s.certain, s.possible, s.at = false, !is.Replica, at
}

// cover adds an interval to the spans. It extends the last span if that reaches the interval, or if there are too many.
func (s *degradedSum) cover(from, to time.Time) {
	last := len(s.spans) - 1
	if last >= 0 && (len(s.spans) == wire.MaxDegradedSpans || !s.spans[last].To.Time.Before(from)) {
		s.spans[last].To = metav1.NewMicroTime(to)
		return
	}
	s.spans = append(s.spans, wire.DegradedSpan{From: metav1.NewMicroTime(from), To: metav1.NewMicroTime(to)})
}

// until are the spans of a node with the time of its last write, to which a span that was open at the last sample is extended.
func (s *degradedSum) until(wrote time.Time) []wire.DegradedSpan {
	if !s.possible || !wrote.After(s.at) {
		return s.spans
	}
	then := degradedSum{spans: slices.Clone(s.spans)}
	then.cover(s.at, wrote)
	return then.spans
}

// standbySpans are the standbys that one node's commits waited for.
type standbySpans struct{ spans []wire.StandbySpan }

// add takes an interval between two samples of one process. If its ends differ, each is true of a part.
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
