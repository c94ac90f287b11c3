package figures

import (
	"testing"
	"time"
)

func TestAStageCountsWhileItsRequestsComeOrAreInFlight(t *testing.T) {
	type request struct {
		stage    string
		from, to time.Duration // to is 0 for a request that has not ended
	}
	for name, c := range map[string]struct {
		requests []request
		at       time.Duration
		want     bool
	}{
		"before the first request":                  {nil, 0, false},
		"while a request is in flight":              {[]request{{"steady", 0, 0}}, time.Minute, true},
		"while a request of the warm-up is":         {[]request{{"warmup", 0, 0}}, 0, false},
		"right after a request":                     {[]request{{"steady", 0, 1}}, time.Second - 1, true},
		"right after a request of the warm-up":      {[]request{{"warmup", 0, 1}}, time.Second - 1, false},
		"a second after the last arrival":           {[]request{{"steady", 0, 1}}, time.Second, false},
		"when a late answer has come":               {[]request{{"steady", 0, 10 * time.Second}}, 10 * time.Second, false},
		"while the warm-up is still being answered": {[]request{{"warmup", 0, 0}, {"steady", 1, 2}}, time.Second, true},
		"long after, while the warm-up is":          {[]request{{"warmup", 0, 0}, {"steady", 1, 2}}, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := newRecorder()
			for _, q := range c.requests {
				clock.set(q.from)
				call := r.Begin(q.stage, Search)
				if q.to != 0 {
					clock.set(q.to)
					call.End(true, 0)
				}
			}
			clock.set(c.at)
			if got := r.Counting(); got != c.want {
				t.Errorf("counting: %v, want %v", got, c.want)
			}
		})
	}
}
