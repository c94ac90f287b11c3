package lag

import (
	"testing"
	"time"

	"replab.dev/internal/polling"
)

func TestNextCheck(t *testing.T) {
	const acked = time.Second
	tests := map[string]struct{ lower, guess, want time.Duration }{
		"first at the guess":                                        {acked - ms, 2 * ms, acked + 2*ms},
		"at the acknowledgement without a guess":                    {acked - ms, 0, acked},
		"then three quarters of the time further":                   {acked + 4*ms, 2 * ms, acked + 7*ms},
		"not closer than a round trip":                              {acked + ms/10, ms / 10, acked + ms/5},
		"not further than what bounds the resolution":               {acked + time.Second, 2 * ms, acked + time.Second + mostGap},
		"a large guess leaves no larger gap":                        {acked - ms, time.Second, acked + mostGap},
		"a read of an earlier write does not put the guess forward": {acked + ms, 20 * ms, acked + 20*ms},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nextCheck(acked, test.lower, polling.Guess(test.guess)); got != test.want {
				t.Errorf("got %v after the acknowledgement, want %v", got-acked, test.want-acked)
			}
		})
	}
}
