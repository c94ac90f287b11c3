package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

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
