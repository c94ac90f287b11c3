// Package timer sleeps precisely.
package timer

import (
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Timer sleeps by a timer of the system that Go's network poller waits for. Go's own timers are a millisecond coarse in
// an idle process, and a sleep in a system call keeps a processor of the scheduler, so that the answers of other sessions
// lie unread meanwhile.
type Timer struct{ file *os.File }

// New returns a timer that must be closed. Where the system has no such timer it sleeps by Go's.
func New() *Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &Timer{}
	}
	return &Timer{os.NewFile(uintptr(fd), "timerfd")}
}

// Sleep for a time.
func (t *Timer) Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if t.file == nil || !t.wait(d) {
		time.Sleep(d)
	}
}

func (t *Timer) wait(d time.Duration) bool {
	conn, err := t.file.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	err = conn.Control(func(fd uintptr) { failed = unix.TimerfdSettime(int(fd), 0, &spec, nil) })
	if err != nil || failed != nil {
		return false
	}
	var expirations [8]byte
	_, err = t.file.Read(expirations[:])
	return err == nil && binary.NativeEndian.Uint64(expirations[:]) > 0
}

// Close ends the use of the timer, and a sleep that is under way.
func (t *Timer) Close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}
