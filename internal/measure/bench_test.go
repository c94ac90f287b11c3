package measure

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/recorder/counters"
	"replab.dev/test/benchmark"
)

// TestBenchSample: what one sample a second takes, in a pod of three processes.
func TestBenchSample(t *testing.T) {
	benchmark.Skip(t)
	const samples = 500
	proc := fake(t, map[int]int{1: 1, 7: 100, 12: 10})
	before := spent(t)
	for range samples {
		if _, err := others(proc, 12); err != nil {
			t.Fatal(err)
		}
	}
	each := (spent(t) - before) / samples
	benchmark.Figure{
		What: "sampling a pod's processes", Measured: fmt.Sprintf("processor time of a sample: %d µs", each.Microseconds()),
		Value: 100 * each.Seconds() / counters.Interval.Seconds(), Unit: "% of a core", Target: benchmark.AtMost(0.5),
	}.Print()
}

// spent is the processor time of this process.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
