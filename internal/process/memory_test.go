package process

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestTheHeapIsNineTenthsOfTheMemory(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	for limit, want := range map[int64]int64{128 << 20: (128 << 20) / 10 * 9, math.MaxInt64: math.MaxInt64} {
		debug.SetMemoryLimit(limit)
		limitMemory()
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("of %d bytes %d are the heap's, want %d", limit, got, want)
		}
	}
}
