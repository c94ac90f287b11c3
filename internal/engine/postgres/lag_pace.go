package postgres

import (
	"math/rand/v2"
	"time"

	"replab.dev/internal/polling"
)

const (
	closeLooks = 8                    // come without pause: the bracket of a short lag is as wide as two of them
	mostFirst  = 5 * time.Millisecond // a standby that has caught up is not looked at much too late
	mostPause  = 4 * time.Millisecond // bounds the brackets of what is far behind
)

// lagPace is when a node is asked for a write, by the write's age. One that is asked without pause has less of its processor left to apply
// what it is asked for.
type lagPace struct{ guesses []polling.Guess } // per payload size: larger rows show later

func newLagPace(sizes int) *lagPace { return &lagPace{make([]polling.Guess, sizes)} }

// first is the age at the first look.
func (p *lagPace) first(size int) time.Duration { return time.Duration(p.guesses[size]) }

// pause after so many looks. It grows with the age: it is an eighth of that, give or take a half by chance, so that lags which are alike are
// not all found at the same ages.
func (p *lagPace) pause(looks int, age time.Duration, chance float64) time.Duration {
	if looks < closeLooks {
		return 0
	}
	return time.Duration((0.5 + chance) * float64(min(age/8, mostPause)))
}

// learn from a write that the last of so many looks saw. missed is its age at the one before. The first look does not count: it finds asleep
// who has to answer, takes some times as long as those that follow, and would leave a bracket as wide.
func (p *lagPace) learn(size, looks int, missed time.Duration) {
	if looks <= 2 {
		missed = -1
	}
	p.guesses[size].Learn(missed)
	p.guesses[size] = min(p.guesses[size], polling.Guess(mostFirst)) // or it would take as long to unlearn a long lag as it took to learn it
}

// looked is when a look began and ended; zero for none.
type looked struct{ began, ended time.Time }

// waiting is how time goes by, and a look: whether the write is there.
type waiting struct {
	now   func() time.Time
	sleep func(time.Duration)
	look  func() (bool, error)
}

// poll looks until the write is there, or the time is over: once at least.
func (w *LagWatcher) poll(write lagWrite, end time.Time, by waiting) (bool, error) {
	by.sleep(min(write.at.Add(w.pace.first(write.size)).Sub(by.now()), end.Sub(by.now())))
	for looks := 1; ; looks++ {
		began := by.now()
		seen, err := by.look()
		if err != nil {
			return false, err
		}
		if seen {
			w.pace.learn(write.size, looks, w.missed.began.Sub(write.at))
			return true, nil
		}
		now := by.now()
		w.missed = looked{began, now}
		if !now.Before(end) {
			return false, nil
		}
		by.sleep(w.pace.pause(looks, now.Sub(write.at), rand.Float64()))
	}
}
