package counters

import "time"

// Interval is how often counters are sampled.
const Interval = time.Second

// Sample is what the server of a node has counted.
type Sample[C any] struct {
	Node     string
	At       time.Time // it was not read before
	Counting bool      // whether a stage of the load was under way then that is not discarded
	Wrote    time.Time // when the node acknowledged its last write to a client, zero when it never did
	Counts   C
}
