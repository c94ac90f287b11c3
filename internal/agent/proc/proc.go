// Package proc finds the database server among the processes of a pod, signals it, and reads what it uses. The pod's
// containers share one process namespace.
package proc

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, the unit of times in /proc/PID/stat. Linux fixes it at 100 for user space.
const ticksPerSecond = 100

// commLength is how much of a name the kernel keeps in /proc/PID/comm.
const commLength = 15

// ErrNone says that there is no server process.
var ErrNone = errors.New("no server process exists")

// Process is one process for good: a pid alone may be given to another one later.
type Process struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"startTicks"` // when it began, in 1/100 s since the machine booted
}

// ID names the process among all since the machine booted, in the notes of agents. One of the machine's next boot may have the same only where it has
// the same pid and began in the same hundredth of a second after it.
func (p Process) ID() string { return fmt.Sprintf("%d/%d", p.PID, p.StartTicks) }

// Finder finds the server. It may be used by several goroutines.
type Finder struct {
	comm     string
	isServer func(argv []string) bool

	mu   sync.Mutex
	last Process
}

// NewFinder returns a Finder of the process whose comm is the given name (as far as the kernel keeps it) and whose
// arguments isServer accepts.
func NewFinder(comm string, isServer func(argv []string) bool) *Finder {
	return &Finder{comm: comm[:min(len(comm), commLength)], isServer: isServer}
}

// Find returns the running server, or ErrNone. A zombie is not running.
func (f *Finder) Find() (Process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last.Alive() {
		return f.last, nil
	}
	all, err := procfs.AllProcs()
	if err != nil {
		return Process{}, fmt.Errorf("look for the server %q: %w", f.comm, err)
	}
	slices.SortFunc(all, func(a, b procfs.Proc) int { return a.PID - b.PID })
	for _, p := range all {
		if found, ok := f.match(p); ok {
			f.last = found
			return found, nil
		}
	}
	return Process{}, ErrNone
}

// match passes over a process whose parent matches as well: one that was forked a moment ago still has its parent's name and arguments. It
// ignores errors: a process may end while it is looked at, and is then not the one.
func (f *Finder) match(p procfs.Proc) (Process, bool) {
	stat, ok := f.looks(p)
	if !ok {
		return Process{}, false
	}
	if parent, err := procfs.NewProc(stat.PPID); err == nil {
		if _, forked := f.looks(parent); forked {
			return Process{}, false
		}
	}
	return Process{PID: p.PID, StartTicks: stat.Starttime}, true
}

// looks tells whether a process has the name and the arguments that are looked for, and has not ended.
func (f *Finder) looks(p procfs.Proc) (procfs.ProcStat, bool) {
	stat, err := p.Stat()
	if err != nil || stat.Comm != f.comm || ended(stat.State) {
		return procfs.ProcStat{}, false
	}
	argv, err := p.CmdLine()
	return stat, err == nil && f.isServer(argv)
}

// Alive tells whether the process runs, or is stopped; a zombie does not count.
func (p Process) Alive() bool {
	stat, err := p.stat()
	return err == nil && !ended(stat.State)
}

// StartedAt is the wall-clock time at which the process began, to 1/100 s.
func (p Process) StartedAt() (time.Time, error) {
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return time.Time{}, fmt.Errorf("read the time since boot: %w", err)
	}
	age := time.Duration(sinceBoot.Nano()) - time.Duration(p.StartTicks)*time.Second/ticksPerSecond
	return time.Now().Add(-age), nil
}

// Stopped tells whether all of the process's threads are stopped by a signal.
func (p Process) Stopped() (bool, error) {
	threads, err := procfs.AllThreads(p.PID)
	if err != nil {
		return false, fmt.Errorf("read the threads of process %d: %w", p.PID, err)
	}
	for _, t := range threads {
		stat, err := t.Stat()
		if err != nil || stat.State != "T" {
			return false, nil // a thread that has just ended: look again
		}
	}
	return p.Alive(), nil
}

// stat returns an error when the process is gone, even if its pid is in use again.
func (p Process) stat() (procfs.ProcStat, error) {
	if p.PID == 0 {
		return procfs.ProcStat{}, ErrNone
	}
	proc, err := procfs.NewProc(p.PID)
	if err != nil {
		return procfs.ProcStat{}, fmt.Errorf("process %d: %w", p.PID, err)
	}
	stat, err := proc.Stat()
	if err != nil {
		return procfs.ProcStat{}, fmt.Errorf("process %d: %w", p.PID, err)
	}
	if stat.Starttime != p.StartTicks {
		return procfs.ProcStat{}, fmt.Errorf("process %d is gone, its pid is another's now: %w", p.PID, ErrNone)
	}
	return stat, nil
}

func ended(state string) bool { return state == "Z" || state == "X" }

// Handle holds on to a process, so that a signal can never reach another one that got its pid.
type Handle struct {
	Process
	fd int
}

// Open returns a handle on the process, or an error when it is gone. The caller closes it.
func (p Process) Open() (*Handle, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", p.PID, err)
	}
	h := &Handle{Process: p, fd: fd}
	if _, err := p.stat(); err != nil { // looked at after it was opened: now the handle is certainly of this process
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Close lets go of the process.
func (h *Handle) Close() error { return unix.Close(h.fd) }

// Signal sends a signal to the process.
func (h *Handle) Signal(signal unix.Signal) error {
	if err := unix.PidfdSendSignal(h.fd, signal, nil, 0); err != nil {
		return fmt.Errorf("send %s to process %d: %w", unix.SignalName(signal), h.PID, err)
	}
	return nil
}

// Ended waits until the process has ended (a zombie has), at most for the timeout, and tells whether it has.
func (h *Handle) Ended(timeout time.Duration) (bool, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := max(0, time.Until(deadline))
		fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(left.Milliseconds()))
		if errors.Is(err, unix.EINTR) && left > 0 {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("wait for the end of process %d: %w", h.PID, err)
		}
		return n > 0, nil
	}
}
