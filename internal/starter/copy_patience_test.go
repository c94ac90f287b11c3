package starter

import (
	"errors"
	"testing"
	"time"
)

// step is what came of one try for a copy, some time after the one before.
type step struct {
	err   error
	after time.Duration
	again bool
}

func TestACopyIsTriedAsLongAsSomethingMoves(t *testing.T) {
	failed := errors.New("refused")
	broke := func(received int64) error { return &brokenOff{received, failed} }
	busy := func(given int64) error { return &brokenOff{0, &donorBusy{given, failed}} }
	for name, steps := range map[string][]step{
		"failures in a row":  {{failed, 0, true}, {broke(0), 0, true}, {broke(9), 0, true}, {broke(9), 0, true}, {broke(3), 0, true}, {failed, 0, true}, {failed, 0, false}},
		"each comes further": {{broke(1), 0, true}, {broke(2), 0, true}, {broke(3), 0, true}, {broke(4), 0, true}, {broke(5), 0, true}, {broke(6), 0, true}, {broke(7), 0, true}},
		"the donor is busy":  {{busy(1), 0, true}, {busy(2), waitMost, true}, {busy(3), waitMost, true}, {busy(3), waitMost - 1, true}, {busy(3), 1, false}},
		"a donor that was started again is at its beginning": {{busy(500), 0, true}, {busy(1), waitMost, true}, {busy(1), waitMost - 1, true}},
		"busy does not count as failed": {
			{failed, 0, true}, {failed, 0, true}, {failed, 0, true}, {failed, 0, true}, {busy(1), 0, true}, {busy(1), 1, true}, {failed, 0, false},
		},
		"busy again is another wait": {{busy(1), 0, true}, {failed, waitMost, true}, {busy(1), 0, true}, {busy(1), waitMost - 1, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var p patience
			now := time.Unix(1000, 0)
			for i, s := range steps {
				now = now.Add(s.after)
				if _, again := p.after(now, s.err); again != s.again {
					t.Fatalf("step %d: try again %t, want %t", i, again, s.again)
				}
			}
		})
	}
}
