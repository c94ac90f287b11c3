package counters

import (
	"testing"
	"time"
)

func TestHowFarAClockIsAhead(t *testing.T) {
	const ms = time.Millisecond
	type sample struct {
		ahead, there, back time.Duration // how far the clock is ahead, and how long question and answer take
		times              int
	}
	for name, c := range map[string]struct {
		samples     []sample
		least, most time.Duration
		unknown     bool
	}{
		"without an answer nothing is known":                 {unknown: true},
		"one answer bounds it by its round trip":             {[]sample{{50 * ms, 2 * ms, 3 * ms, 1}}, 47 * ms, 52 * ms, false},
		"a clock may be behind":                              {[]sample{{-50 * ms, 2 * ms, 3 * ms, 1}}, -53 * ms, -48 * ms, false},
		"the narrowest of a window counts":                   {[]sample{{0, 9 * ms, ms, 5}, {0, ms, ms, 1}, {0, ms, 9 * ms, 4}}, -ms, ms, false},
		"a few answers after a window do not loosen it":      {[]sample{{0, ms, ms, 10}, {0, 99 * ms, 99 * ms, 9}}, -ms, ms, false},
		"a clock that drifts has the bounds of all windows":  {[]sample{{0, ms, ms, 10}, {8 * ms, ms, ms, 10}, {4 * ms, ms, ms, 10}}, -ms, 9 * ms, false},
		"a window in which all was slow has the slow bounds": {[]sample{{0, ms, ms, 10}, {0, 5 * ms, 3 * ms, 10}}, -3 * ms, 5 * ms, false},
	} {
		t.Run(name, func(t *testing.T) {
			var clock Clock
			now := begin
			for _, s := range c.samples {
				for range s.times {
					told := now.Add(s.there + s.ahead)
					clock.Add(now, told, now.Add(s.there+s.back))
					now = now.Add(time.Second)
				}
			}
			least, most, known := clock.Ahead()
			if least != c.least || most != c.most || known == c.unknown {
				t.Errorf("ahead by %v to %v (%v), want %v to %v", least, most, known, c.least, c.most)
			}
		})
	}
}
