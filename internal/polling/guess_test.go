package polling_test

import (
	"testing"
	"time"

	"replab.dev/internal/polling"
)

const ms = time.Millisecond

func TestTheGuessSettlesWhereFiveOfSixWritesAreStillUnseen(t *testing.T) {
	for name, least := range map[string]time.Duration{"about a millisecond": ms, "about 50 ms": 50 * ms, "about 200 µs": 200 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			var guess polling.Guess
			early := 0
			for i := range 10000 {
				visible := least + least*time.Duration((i*7919)%1000)/1000 // up to twice the least, evenly
				reached := -ms
				if visible > time.Duration(guess) {
					reached = time.Duration(guess)
					if i > 1000 {
						early++
					}
				}
				guess.Learn(reached)
			}
			if early < 9000*3/4 || early > 9000*19/20 {
				t.Errorf("%d of 9000 reads came before the write was visible, want about 7500", early)
			}
		})
	}
}

func TestTheGuessStaysAtTheAcknowledgementWhereWritesAreVisibleBeforeIt(t *testing.T) {
	var guess polling.Guess
	for range 100 {
		guess.Learn(-ms)
	}
	if guess != 0 {
		t.Errorf("guess %v", time.Duration(guess))
	}
}
