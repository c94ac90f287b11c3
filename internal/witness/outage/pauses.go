package outage

import "time"

// beat is how often this process shows that it runs.
const beat = 10 * time.Millisecond

// pauses sums up the times in which this process did not run though it should have: it was stopped, or got no CPU.
type pauses struct {
	last time.Time // when it was last seen to run, zero while it does not show it at each beat
	sum  time.Duration
}

// ran notes that the process runs. A beat that is late by less than its own length is no pause: timers are not exact.
func (p *pauses) ran(at time.Time) {
	if p.last.IsZero() {
		return
	}
	if late := at.Sub(p.last) - beat; late > beat {
		p.sum += late
	}
	p.last = at
}
