package benchmark

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit in which the kernel tells the times of processes.
const tick = 10 * time.Millisecond

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

// TreeTime is the same of a process and of those that it has started, be it that these have ended: of a server that has a process for
// each connection. One that ends just now may be missing, until the next look.
func TreeTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	process, err := procfs.NewProc(pid)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := process.Stat()
	if err != nil {
		t.Fatal(err)
	}
	total := time.Duration(stat.CPUTime()*float64(time.Second)) + time.Duration(stat.CUTime+stat.CSTime)*tick
	for _, child := range children(t, pid) {
		process, err := procfs.NewProc(child)
		if err != nil {
			continue // it has ended
		}
		if stat, err := process.Stat(); err == nil {
			total += time.Duration(stat.CPUTime() * float64(time.Second))
		}
	}
	return total
}

// children are the processes that a process has started and that it has not waited for.
func children(t testing.TB, pid int) (all []int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for field := range strings.FieldsSeq(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}
