package postgres

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
)

func TestLooksComeLateForWhatIsOld(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 0, 800 * time.Microsecond: 100 * time.Microsecond, 40 * time.Millisecond: 5 * time.Millisecond, time.Minute: mostPollPause,
	} {
		if got := pollPause(age); got != want {
			t.Errorf("after %s a pause of %s, want %s", age, got, want)
		}
	}
}

// TestTheFirstLookWaits as long as was learned, but not for what a stall taught.
func TestTheFirstLookWaits(t *testing.T) {
	for guess, want := range map[engine.Guess]time.Duration{0: 0, engine.Guess(time.Millisecond): time.Millisecond, engine.Guess(time.Second): mostGuess} {
		if got := firstLook(guess); got != want {
			t.Errorf("with the guess %s after %s, want %s", time.Duration(guess), got, want)
		}
	}
}
