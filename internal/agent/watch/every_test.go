package watch

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestEvery keeps the interval, which runs while f does: a call that takes longer is followed at once, and no missed one is made up for.
func TestEvery(t *testing.T) {
	for name, c := range map[string]struct {
		takes []time.Duration // each call; those after the last take nothing
		want  []time.Duration // when calls begin, since the first
	}{
		"calls that take nothing":     {nil, []time.Duration{0, time.Second, 2 * time.Second}},
		"calls shorter than that":     {[]time.Duration{400 * time.Millisecond, 600 * time.Millisecond}, []time.Duration{0, time.Second, 2 * time.Second}},
		"calls longer than that":      {[]time.Duration{1500 * time.Millisecond, 1500 * time.Millisecond}, []time.Duration{0, 1500 * time.Millisecond, 3 * time.Second}},
		"one that took several times": {[]time.Duration{3500 * time.Millisecond}, []time.Duration{0, 3500 * time.Millisecond, 4500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var got []time.Duration
				start := time.Now()
				Every(ctx, time.Second, func() {
					got = append(got, time.Since(start))
					if len(got) <= len(c.takes) {
						time.Sleep(c.takes[len(got)-1])
					}
					if len(got) == len(c.want) {
						cancel()
					}
				})
				if !slices.Equal(got, c.want) {
					t.Errorf("calls begin after %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestEveryEndsWhileItWaits, and not with the next call.
func TestEveryEndsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		calls, start := 0, time.Now()
		Every(ctx, time.Second, func() { calls++ })
		if took := time.Since(start); calls != 2 || took != 1500*time.Millisecond {
			t.Errorf("%d calls in %s, want 2 in 1.5s", calls, took)
		}
	})
}

// TestEveryCallsOnce where it was ended before.
func TestEveryCallsOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := 0
	Every(ctx, time.Hour, func() { calls++ })
	if calls != 1 {
		t.Errorf("it was called %d times", calls)
	}
}
