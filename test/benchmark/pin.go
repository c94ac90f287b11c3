package benchmark

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Halves divides the processors: the first half of them is for the instruments, the rest for the system under test.
func Halves(t testing.TB) (instruments, system unix.CPUSet) {
	t.Helper()
	n := runtime.NumCPU()
	if n < 2 {
		t.Skip("two halves need two processors")
	}
	for i := range n {
		if i < n/2 {
			instruments.Set(i)
		} else {
			system.Set(i)
		}
	}
	return instruments, system
}

// Pin leaves a process, with all threads that it has and will have, no processors but these.
func Pin(t testing.TB, pid int, processors unix.CPUSet) {
	t.Helper()
	pinned := map[string]bool{}
	for { // a thread that is not pinned yet may start another
		threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			t.Fatal(err)
		}
		before := len(pinned)
		for _, thread := range threads {
			if pinned[thread.Name()] {
				continue
			}
			tid, err := strconv.Atoi(thread.Name())
			if err == nil {
				err = unix.SchedSetaffinity(tid, &processors)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				t.Fatalf("pin thread %s of process %d: %v", thread.Name(), pid, err)
			}
			pinned[thread.Name()] = true
		}
		if len(pinned) == before {
			return
		}
	}
}
