package benchmark

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// ProcessorTime is what processes have used of the processors so far, user and system, to 10 ms each.
func ProcessorTime(t testing.TB, pids ...int) (total time.Duration) {
	t.Helper()
	for _, pid := range pids {
		process, err := procfs.NewProc(pid)
		if err != nil {
			t.Fatal(err)
		}
		stat, err := process.Stat()
		if err != nil {
			t.Fatal(err)
		}
		total += time.Duration(stat.CPUTime() * float64(time.Second))
	}
	return total
}
