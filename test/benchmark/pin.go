package benchmark

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Halves divides the processors that this process may use: the first half of them is for the instruments, the rest for the
// system under test. They are logical ones: two may be threads of one core.
func Halves(t testing.TB) (instruments, system unix.CPUSet) {
	t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	n := all.Count()
	if n < 2 {
		t.Fatal("the figure is not measured: two halves need two processors, and this process may use one")
	}
	for cpu, taken := 0, 0; taken < n; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if taken < n/2 {
			instruments.Set(cpu)
		} else {
			system.Set(cpu)
		}
		taken++
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
