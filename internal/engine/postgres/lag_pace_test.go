package postgres

import (
	"errors"
	"slices"
	"testing"
	"time"

	"replab.dev/internal/polling"
)

func TestLooksComeLateForWhatIsOld(t *testing.T) {
	p := newLagPace(1)
	for age, want := range map[time.Duration]time.Duration{
		0: 0, 800 * time.Microsecond: 100 * time.Microsecond, 24 * time.Millisecond: 3 * time.Millisecond, time.Minute: mostPause,
	} {
		if got := p.pause(closeLooks-1, age, 0.5); got != 0 {
			t.Errorf("a pause of %s between looks that follow each other", got)
		}
		if got := p.pause(closeLooks, age, 0.5); got != want {
			t.Errorf("after %s a pause of %s, want %s", age, got, want)
		}
		if least, most := p.pause(closeLooks, age, 0), p.pause(closeLooks, age, 1); least != want/2 || most != want*3/2 {
			t.Errorf("after %s a pause of %s to %s", age, least, most)
		}
	}
}

// watched is a node on which a write shows at an age, in a time that only looks and sleeps spend.
type watched struct {
	LagWatcher
	now    time.Time
	looks  []time.Duration // ages
	failed error
}

const look = 50 * time.Microsecond // takes so long

func (w *watched) wait(write lagWrite, shows, atMost time.Duration) (bool, error) {
	w.missed, w.looks = looked{}, nil
	write.at = w.now
	return w.poll(write, w.now.Add(atMost), waiting{
		now:   func() time.Time { return w.now },
		sleep: func(d time.Duration) { w.now = w.now.Add(max(d, 0)) },
		look: func() (bool, error) {
			w.looks = append(w.looks, w.now.Sub(write.at))
			seen := w.now.Sub(write.at) >= shows
			w.now = w.now.Add(look)
			return seen, w.failed
		},
	})
}

func TestTheFirstLookIsLearnedForEachSize(t *testing.T) {
	w := watched{LagWatcher: LagWatcher{pace: newLagPace(2)}, now: time.Unix(0, 0)}
	for range 1000 {
		for size, shows := range []time.Duration{time.Millisecond, 4 * time.Millisecond} {
			if seen, err := w.wait(lagWrite{size: size}, shows, time.Second); !seen || err != nil {
				t.Fatal(seen, err)
			}
			if began, ended := w.Missed(); len(w.looks) > 1 && (w.now.Sub(began) > shows/4+3*look || ended.Sub(began) != look) {
				t.Fatalf("the last look that missed is of %s before the write was seen, and took %s", w.now.Sub(began), ended.Sub(began))
			}
		}
	}
	small, large := w.pace.first(0), w.pace.first(1)
	if small < 700*time.Microsecond || small > 1100*time.Microsecond || large < 3*time.Millisecond || large > 4400*time.Microsecond {
		t.Errorf("first looks are after %s and %s", small, large)
	}
	if len(w.looks) > 8 {
		t.Errorf("looked at the ages %v", w.looks)
	}
}

// TestLooksFollowEachOtherAboutTheTimeAtWhichAWriteShows: its resolution is two of them, and a write that the second look sees came too
// early for the first.
func TestLooksFollowEachOtherAboutTheTimeAtWhichAWriteShows(t *testing.T) {
	w := watched{LagWatcher: LagWatcher{pace: newLagPace(1)}, now: time.Unix(0, 0)}
	for first, grows := range map[time.Duration]bool{800 * time.Microsecond: true, 960 * time.Microsecond: false, 1100 * time.Microsecond: false} {
		w.pace.guesses[0] = polling.Guess(first)
		_, _ = w.wait(lagWrite{}, time.Millisecond, time.Second)
		if began, _ := w.Missed(); !began.IsZero() && w.now.Sub(began) != 2*look {
			t.Errorf("first after %s: looked at the ages %v", first, w.looks)
		}
		if next := w.pace.first(0); (next > first) != grows {
			t.Errorf("first after %s, and then after %s", first, next)
		}
	}
}

// TestALongLagIsUnlearnedSoon: or a node that has caught up would be told to lag by the time of its first look.
func TestALongLagIsUnlearnedSoon(t *testing.T) {
	w := watched{LagWatcher: LagWatcher{pace: newLagPace(1)}, now: time.Unix(0, 0)}
	for range 500 {
		if seen, err := w.wait(lagWrite{}, time.Second, time.Minute); !seen || err != nil {
			t.Fatal(seen, err)
		}
	}
	if w.pace.guesses[0] != polling.Guess(mostFirst) {
		t.Errorf("learned %s", time.Duration(w.pace.guesses[0]))
	}
	if w.looks[0] != mostFirst {
		t.Errorf("looked first at the age %s", w.looks[0])
	}
	for range 15 {
		_, _ = w.wait(lagWrite{}, 0, time.Second)
	}
	if first := w.pace.first(0); first > 400*time.Microsecond {
		t.Errorf("after 15 writes that showed at once the first look is after %s", first)
	}
}

func TestAWaitEndsInTimeAndHasLooked(t *testing.T) {
	w := watched{LagWatcher: LagWatcher{pace: newLagPace(1)}, now: time.Unix(0, 0)}
	w.pace.guesses[0] = polling.Guess(mostFirst)
	if seen, err := w.wait(lagWrite{}, time.Hour, time.Millisecond); seen || err != nil || !slices.Equal(w.looks, []time.Duration{time.Millisecond}) {
		t.Errorf("seen %v, %v, looked at the ages %v", seen, err, w.looks)
	}
	w.failed = errors.New("gone")
	if _, err := w.wait(lagWrite{}, 0, time.Second); !errors.Is(err, w.failed) {
		t.Error(err)
	}
	if began, _ := w.Missed(); !began.IsZero() {
		t.Error("a look that failed is one that missed")
	}
}
