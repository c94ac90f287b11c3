package figures

import "time"

// countingPause is how long a stage counts as running after a request of it has arrived: between two requests, and between
// two stages.
const countingPause = time.Second

// counting follows the requests of the stages that are not discarded.
type counting struct {
	inFlight int64
	arrived  time.Time // the last one
}

func (c *counting) begin(s *stage, now time.Time) {
	if !s.Discard {
		c.inFlight++
		c.arrived = now
	}
}

func (c *counting) end(s *stage) {
	if !s.Discard {
		c.inFlight--
	}
}

func (c *counting) running(now time.Time) bool {
	return c.inFlight > 0 || !c.arrived.IsZero() && now.Sub(c.arrived) < countingPause
}

// Counting tells whether a stage that is not discarded is under way: a request of it is in flight, or arrived within the last
// second.
func (r *Recorder) Counting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counting.running(r.now())
}
