package counters

import "time"

// clockWindow is how many samples of a clock the narrowest is taken of: most answers are delayed somewhere.
const clockWindow = 10

// Clock bounds how far another clock is ahead of this process's, by the times that it tells in its answers. The zero value
// knows nothing. It is not safe for concurrent use.
type Clock struct {
	window  bracket // the narrowest so far
	samples int     // in the window
	all     bracket // of all windows: the clock may have drifted, or have been set
	windows int
}

// bracket is how far the clock is ahead at least and at most; below 0 it is behind.
type bracket struct{ least, most time.Duration }

func (b bracket) width() time.Duration { return b.most - b.least }

// Add takes the time that the clock told between a question and its answer.
func (c *Clock) Add(asked, told, answered time.Time) {
	b := bracket{told.Sub(answered), told.Sub(asked)}
	if c.samples == 0 || b.width() < c.window.width() {
		c.window = b
	}
	if c.samples++; c.samples < clockWindow {
		return
	}
	c.samples = 0
	if c.windows++; c.windows == 1 {
		c.all = c.window
		return
	}
	c.all = bracket{min(c.all.least, c.window.least), max(c.all.most, c.window.most)}
}

// Ahead returns the bounds, and false while there are none. What came after the last whole window is in them only when
// there was none.
func (c *Clock) Ahead() (least, most time.Duration, known bool) {
	if c.windows == 0 {
		return c.window.least, c.window.most, c.samples > 0
	}
	return c.all.least, c.all.most, true
}
