package pauses

import (
	"context"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func TestPauses(t *testing.T) {
	p := &Log{}
	p.Ran(at(0)) // nobody watches yet
	p.Begin(at(100))
	for _, ms := range []int64{110, 120, 140, 150, 650, 655, 660, 760, 770} { // 20 ms late is no pause
		p.Ran(at(ms))
	}
	for name, c := range map[string]struct{ from, to, want int64 }{
		"all of the time":                 {0, 10_000, 490 + 90},
		"a time before the first":         {0, 160, 0},
		"as the first begins":             {0, 161, 1},
		"a part of one":                   {200, 300, 100},
		"one exactly":                     {160, 650, 490},
		"from the middle of one to later": {600, 700, 50 + 30},
		"between two":                     {650, 670, 0},
		"after the last":                  {760, 10_000, 0},
		"no time":                         {300, 300, 0},
		"a time that runs backwards":      {300, 200, 0},
	} {
		if got := p.Paused(at(c.from), at(c.to)); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("%s: %v, want %d ms", name, got, c.want)
		}
	}
}

func TestNoPulseKnowsOfNoPause(t *testing.T) {
	var p *Log
	p.Ran(at(0))
	if got := p.Paused(at(0), at(100)); got != 0 {
		t.Errorf("paused for %v", got)
	}
}

// A process that is stopped leaves a pause: here its clock goes on without it.
func TestWatchNotesThatTheProcessDidNotRun(t *testing.T) {
	p := &Log{}
	asked := make(chan time.Time)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { p.Watch(ctx, func() time.Time { return <-asked }); close(ended) }()
	for _, ms := range []int64{0, 10, 20, 520, 530} {
		asked <- at(ms)
	}
	stop()
	for ms, running := int64(540), true; running; ms += 10 {
		select {
		case asked <- at(ms):
		case <-ended:
			running = false
		}
	}
	if got := p.Paused(at(0), at(1000)); got != 490*time.Millisecond {
		t.Errorf("paused for %v, want 490 ms", got)
	}
	p.Ran(at(5000))
	if got := p.Paused(at(0), at(10_000)); got != 490*time.Millisecond {
		t.Errorf("paused for %v when nobody watched", got)
	}
}
