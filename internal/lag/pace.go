package lag

import "time"

// When the checker reads. Its reads decide how wide the brackets are, and they are most of what the probe costs.
const (
	leastGuess = 100 * time.Microsecond // about one round trip
	mostGuess  = time.Second
	leastGap   = 100 * time.Microsecond // between two reads
	mostGap    = 50 * time.Millisecond  // bounds the brackets of the writes that follow during a stall
)

// nextCheck returns when the oldest outstanding write should be read next: at its acknowledgement, at its guess after
// that, then when the time since the acknowledgement has grown by a third. lower is the start of the last read that did
// not see it.
func nextCheck(acked, lower, guess time.Duration) time.Duration {
	if lower < acked {
		return acked
	}
	elapsed := lower - acked
	gap := min(max(elapsed/3, leastGap), mostGap)
	return max(acked+min(guess, elapsed+mostGap), lower+gap)
}

// learnGuess moves the guess towards the quarter of the lags that are smallest: it falls three times as fast on a lag
// below it as it grows on one above.
func learnGuess(guess, lag time.Duration) time.Duration {
	if lag > guess {
		guess += guess / 20
	} else {
		guess -= guess * 3 / 20
	}
	return min(max(guess, leastGuess), mostGuess)
}
