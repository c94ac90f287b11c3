package lag

import (
	"testing"
	"time"
)

func TestNextCheck(t *testing.T) {
	const acked = time.Second
	tests := map[string]struct{ lower, guess, want time.Duration }{
		"first at the guess":                                        {acked - ms, 2 * ms, acked + 2*ms},
		"at the acknowledgement without a guess":                    {acked - ms, 0, acked},
		"then three quarters of the time further":                   {acked + 4*ms, 2 * ms, acked + 7*ms},
		"not closer than a round trip":                              {acked + ms/10, ms / 10, acked + ms/5},
		"not further than what bounds the bracket":                  {acked + time.Second, 2 * ms, acked + time.Second + mostGap},
		"a large guess leaves no larger gap":                        {acked - ms, time.Second, acked + mostGap},
		"a read of an earlier write does not put the guess forward": {acked + ms, 20 * ms, acked + 20*ms},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nextCheck(acked, test.lower, test.guess); got != test.want {
				t.Errorf("got %v after the acknowledgement, want %v", got-acked, test.want-acked)
			}
		})
	}
}

func TestTheGuessSettlesWhereFiveOfSixWritesAreStillUnseen(t *testing.T) {
	for name, least := range map[string]time.Duration{"about a millisecond": ms, "about 50 ms": 50 * ms, "about 200 µs": 200 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			var guess time.Duration
			early := 0
			for i := range 10000 {
				visible := least + least*time.Duration((i*7919)%1000)/1000 // up to twice the least, evenly
				reached := -ms
				if visible > guess {
					reached = guess
					if i > 1000 {
						early++
					}
				}
				guess = learnGuess(guess, reached)
			}
			if early < 9000*3/4 || early > 9000*19/20 {
				t.Errorf("%d of 9000 reads came before the write was visible, want about 7500", early)
			}
		})
	}
}

func TestTheGuessStaysAtTheAcknowledgementWhereWritesAreVisibleBeforeIt(t *testing.T) {
	var guess time.Duration
	for range 100 {
		guess = learnGuess(guess, -ms)
	}
	if guess != 0 {
		t.Errorf("guess %v", guess)
	}
}
