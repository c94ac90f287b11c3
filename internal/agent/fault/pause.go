package fault

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/proc"
)

const (
	// stopTimeout is how long the server's threads may take to stop; one that waits for a disk stops after that.
	stopTimeout  = 5 * time.Second
	stopInterval = 2 * time.Millisecond
)

// pause stops the server with SIGSTOP, as a machine that hangs. Its sockets stay open, its kernel goes on.
type pause struct {
	finder *proc.Finder
	others func(name string) bool // whether another pause than this one stands
	killed func() bool            // whether a fault has killed the server
}

func (p pause) inject(r *record) error {
	server, err := p.finder.Find()
	if err != nil {
		return err
	}
	h, err := server.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	at := time.Now()
	if err := h.Signal(unix.SIGSTOP); err != nil {
		return err
	}
	r.injected(at)
	r.Server = &server
	return nil
}

func (p pause) confirm(r record) (bool, string) {
	ticker := time.NewTicker(stopInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(stopTimeout); time.Now().Before(deadline); <-ticker.C {
		stopped, err := r.Server.Stopped()
		if err != nil {
			return false, err.Error()
		}
		if stopped {
			return true, stoppedText(*r.Server)
		}
	}
	return false, fmt.Sprintf("server process %d had threads that ran %s after SIGSTOP", r.Server.PID, stopTimeout)
}

func stoppedText(p proc.Process) string {
	return fmt.Sprintf("all threads of server process %d are stopped (state T)", p.PID)
}

// release resumes the server unless another pause stands: that one does it then.
func (p pause) release(r record) error {
	server, ok := p.target(r)
	if !ok || p.others(r.Name) {
		return nil
	}
	h, err := server.Open()
	if err != nil {
		if server.Alive() {
			return err
		}
		return nil // it has ended since
	}
	defer h.Close()
	return h.Signal(unix.SIGCONT)
}

// broken finds a server that was woken, or has ended other than by a fault. A thread that ends in the midst of a look looks as if it
// ran, so there are two looks.
func (p pause) broken(r record) (bool, string) {
	for range 2 {
		if stands, _ := p.examine(r); stands {
			return false, ""
		}
		time.Sleep(stopInterval)
	}
	stands, seen := p.examine(r)
	return !stands && !p.killed(), seen
}

func (p pause) examine(r record) (bool, string) {
	server, ok := p.target(r)
	if !ok {
		return false, "no server process exists"
	}
	stopped, err := server.Stopped()
	switch {
	case !server.Alive():
		return false, gone(server.PID)
	case err != nil:
		return true, err.Error()
	case stopped:
		return true, stoppedText(server)
	}
	return false, fmt.Sprintf("server process %d is not stopped", server.PID)
}

// target is the process that was stopped, or, where that was not noted, the server there is.
func (p pause) target(r record) (proc.Process, bool) {
	if r.Server != nil {
		return *r.Server, true
	}
	server, err := p.finder.Find()
	return server, err == nil
}
