package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
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
	if err := pin(pid, processors); err != nil {
		t.Fatal(err)
	}
}

// PinTree does the same with a process and those that it has started and will start.
func PinTree(t testing.TB, pid int, processors unix.CPUSet) {
	t.Helper()
	Pin(t, pid, processors)
	for _, child := range children(t, pid) {
		if err := pin(child, processors); err != nil && !ended(err) {
			t.Fatal(err)
		}
	}
}

func pin(pid int, processors unix.CPUSet) error {
	pinned := map[string]bool{}
	for { // a thread that is not pinned yet may start another
		threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			return err
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
			if err != nil && !ended(err) {
				return fmt.Errorf("pin thread %s of process %d: %w", thread.Name(), pid, err)
			}
			pinned[thread.Name()] = true
		}
		if len(pinned) == before {
			return nil
		}
	}
}

// ended tells whether an error says that a process or thread is no more.
func ended(err error) bool { return errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) }
