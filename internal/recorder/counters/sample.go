package counters

import "time"

// Interval is how often counters are sampled.
const Interval = time.Second

// Sample is what the server of a node has counted.
type Sample[C any] struct {
	Node     string
	At       time.Time // it was not read before
	Missed   bool      // the server did not answer: there are no counts
	Counting bool      // whether a stage of the load was under way then that is not discarded
	Wrote    time.Time // when the node acknowledged its last write to a client, zero when it never did
	Counts   C
}

// younger tells whether a server that was up for some seconds has not grown older by the time between two samples: another process tells
// the second, or its machine's clock, by which it counts them, was set back. Uptime is in whole seconds, so one more is allowed for, and
// another for an answer that came late.
func younger(was, is int64, between time.Duration) bool {
	return is+1 < was || time.Duration(is+1)*time.Second < between || time.Duration(is-was+2)*time.Second < between
}
