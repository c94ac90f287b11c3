package counters

import (
	"time"

	"replab.dev/internal/wire"
)

// clockWindow is how many samples of a clock the narrowest is taken of: most answers are delayed somewhere.
const clockWindow = 10

// Clock bounds how far another clock is ahead of this process's, by the times that it tells in its answers. The zero value
// knows nothing. It is not safe for concurrent use.
type Clock struct {
	window  bracket // the narrowest so far
	samples int     // in the window
	all     bracket // of all windows: the clock may have drifted
	windows int
	// odd are the samples that cannot be true together with others: the clock was set, or is another one now.
	odd     bracket
	stepped time.Duration // by how much at least, 0 without such samples
}

// bracket is how far the clock is ahead at least and at most; below 0 it is behind.
type bracket struct{ least, most time.Duration }

func (b bracket) width() time.Duration { return b.most - b.least }

func (b bracket) with(o bracket) bracket { return bracket{min(b.least, o.least), max(b.most, o.most)} }

// apart is how far two brackets are from each other, at most 0 when they may be true together.
func (b bracket) apart(o bracket) time.Duration { return max(b.least-o.most, o.least-b.most) }

// Add takes the time that the clock told between a question and its answer.
func (c *Clock) Add(asked, told, answered time.Time) {
	b := bracket{told.Sub(answered), told.Sub(asked)}
	if c.windows > 0 {
		c.compare(c.all, b)
	}
	if c.samples == 0 {
		c.window = b
	} else {
		c.compare(c.window, b)
		if b.width() < c.window.width() {
			c.window = b
		}
	}
	if c.samples++; c.samples < clockWindow {
		return
	}
	c.samples = 0
	if c.windows++; c.windows == 1 {
		c.all = c.window
		return
	}
	c.all = c.all.with(c.window)
}

// compare keeps two brackets that cannot both be true of one clock that runs as this one does.
func (c *Clock) compare(known, b bracket) {
	apart := known.apart(b)
	if apart <= 0 {
		return
	}
	if c.stepped == 0 {
		c.odd = known
	}
	c.odd = c.odd.with(known).with(b)
	c.stepped = max(c.stepped, apart)
}

// Ahead returns the bounds, and false while there are none. What came after the last whole window is in them when there was
// none, or when it contradicts them.
func (c *Clock) Ahead() (least, most time.Duration, known bool) {
	b := c.all
	if c.windows == 0 {
		b = c.window
	}
	if c.stepped > 0 {
		b = b.with(c.odd)
	}
	return b.least, b.most, c.windows > 0 || c.samples > 0
}

// Result is what is known of the clock with this name; false while that is nothing.
func (c *Clock) Result(name string) (wire.Clock, bool) {
	least, most, known := c.Ahead()
	return wire.Clock{
		Name: name, LeastAheadMicroseconds: least.Microseconds() - 1, MostAheadMicroseconds: most.Microseconds() + 1, // rounded outwards
		SteppedMicroseconds: c.stepped.Microseconds(),
	}, known
}
