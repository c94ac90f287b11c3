// Package halt stops the processes of tests as machines that hang: kill(2) returns before the threads of another process have stopped, and
// one that runs for a moment longer may answer what it must not.
package halt

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

const (
	timeout  = time.Minute // on a machine with much to do; a thread that waits for a disk stops after that
	interval = time.Millisecond
)

// Process returns when every thread of the process has stopped.
func Process(t testing.TB, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatalf("stop process %d: %v", pid, err)
	}
	for deadline := time.Now().Add(timeout); !stopped(t, pid); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d has threads that run %s after SIGSTOP", pid, timeout)
		}
	}
}

func stopped(t testing.TB, pid int) bool {
	t.Helper()
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		t.Fatalf("threads of process %d: %v", pid, err)
	}
	for _, thread := range threads {
		stat, err := thread.Stat()
		if err != nil || stat.State != "T" && stat.State != "Z" { // one that ended stays there while its parent is stopped
			return false // one that has just ended counts no more at the next look
		}
	}
	return true
}
