// Package polling decides when to look for something that is awaited, where no message announces it.
package polling

import "time"

// Guess is when a write that is awaited is first looked for: a look that comes early costs without a use, one that comes late leaves
// a coarse resolution. It settles where five of six writes are still unseen.
type Guess time.Duration

const (
	mostGuess = Guess(time.Second)
	guessStep = Guess(10 * time.Microsecond)
)

// Learn moves the guess: it falls five times as fast when the look at it came too late as it grows when it did not. reached is when the last
// look began that did not see the write, below 0 without such a look.
func (g *Guess) Learn(reached time.Duration) {
	if Guess(reached) >= *g {
		*g += max(*g/25, guessStep)
	} else {
		*g -= max(*g/5, 5*guessStep)
	}
	*g = min(max(*g, 0), mostGuess)
}
