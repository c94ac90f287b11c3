package lag

import "time"

// When the checker reads. Its reads decide how wide the brackets are, and they are much of what the probe costs: one that
// comes late costs without a use, one that comes early leaves a wide bracket.
const (
	mostGuess = time.Second
	guessStep = 10 * time.Microsecond
	leastGap  = 100 * time.Microsecond // between two reads, about a round trip
	mostGap   = 50 * time.Millisecond  // bounds the brackets of the writes that follow during a stall
)

// nextCheck returns when the oldest outstanding write should be read next: at its guess after the acknowledgement, then
// when the time since the acknowledgement has grown by three quarters, so that brackets stay well below half of the lag.
// lower is the start of the last read that did not see it.
func nextCheck(acked, lower, guess time.Duration) time.Duration {
	first := acked + min(guess, mostGap)
	if lower < acked {
		return first
	}
	elapsed := lower - acked
	return max(first, lower+min(max(elapsed*3/4, leastGap), mostGap))
}

// learnGuess moves the guess towards the time at which five of six writes are still unseen: it falls five times as fast
// when the read at the guess came too late as it grows when it did not. reached is how long after the acknowledgement the
// last read that did not see the write began, below 0 when there was none.
func learnGuess(guess, reached time.Duration) time.Duration {
	if reached >= guess {
		guess += max(guess/25, guessStep)
	} else {
		guess -= max(guess/5, 5*guessStep)
	}
	return min(max(guess, 0), mostGuess)
}
