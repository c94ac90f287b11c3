package lag

import (
	"time"

	"replab.dev/internal/polling"
)

// When the checker reads. Its reads decide how wide the brackets are, and they are much of what the probe costs: one that
// comes late costs without a use, one that comes early leaves a wide bracket.
const (
	leastGap = 100 * time.Microsecond // between two reads, about a round trip
	mostGap  = 50 * time.Millisecond  // bounds the brackets of the writes that follow during a stall
	rarely   = polling.Guess(mostGap) // the guess for a node whose waiter looks by itself: two that look would be in each other's way
)

// nextCheck returns when the oldest outstanding write should be read next: at its guess after the acknowledgement, then
// when the time since the acknowledgement has grown by three quarters, so that brackets stay well below half of the lag.
// lower is the start of the last read that did not see it.
func nextCheck(acked, lower time.Duration, guess polling.Guess) time.Duration {
	first := acked + min(time.Duration(guess), mostGap)
	if lower < acked {
		return first
	}
	elapsed := lower - acked
	return max(first, lower+min(max(elapsed*3/4, leastGap), mostGap))
}
