package fault

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/proc"
)

const (
	// stopTimeout is how long the server's threads may take to stop; one that waits for a disk stops after that.
	stopTimeout  = 5 * time.Second
	stopInterval = 2 * time.Millisecond
)

// pause stops the server with SIGSTOP, and where a manager runs it all that either has started, as a machine that hangs. Their sockets stay
// open, the kernel goes on.
type pause struct {
	target
	others func(name string) bool // whether another pause than this one stands
	killed func(time.Time) bool   // whether a fault has killed the server since
}

func (p pause) inject(r *record) error {
	h, at, err := p.stop()
	if err != nil {
		return err
	}
	defer h.close()
	server := &h[0].Process
	if p.family.Managed() {
		server = p.server()
	}
	r.injected(at)
	r.hit(slices.DeleteFunc(h.processes(), func(one proc.Process) bool {
		return !one.Alive() && (server == nil || one != *server) // it was about to end
	}), server)
	return nil
}

// stop returns the stopped processes, and the time right before.
func (p pause) stop() (h handles, at time.Time, err error) {
	if p.family.Managed() {
		return freeze(p.family)
	}
	all, err := p.family.All()
	if err != nil {
		return nil, at, err
	}
	if _, err := h.open(all); err != nil {
		return nil, at, err
	}
	at = time.Now()
	if err := h.signal(unix.SIGSTOP); err != nil {
		h.close()
		return nil, at, err
	}
	return h, at, nil
}

func (p pause) confirm(r record) (bool, string) {
	ticker := time.NewTicker(stopInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(stopTimeout); time.Now().Before(deadline); <-ticker.C {
		stopped, seen, err := allStopped(r)
		switch {
		case err != nil:
			return false, err.Error()
		case stopped:
			return true, seen
		}
	}
	return false, fmt.Sprintf("%s had threads that ran %s after SIGSTOP", r.whom(), stopTimeout)
}

// allStopped tells whether all that were signalled are stopped, and what is seen of them. Those of them that have ended count no more, but
// for the server's first process, without which there is an error.
func allStopped(r record) (is bool, seen string, err error) {
	left := 0
	for _, p := range r.targets() {
		stopped, err := p.Stopped()
		switch {
		case !p.Alive() && (r.Server == nil || p != *r.Server):
			continue
		case err != nil:
			return false, "", err
		case !stopped:
			return false, r.name(p) + " is not stopped", nil
		}
		left++
	}
	if left == 0 {
		return false, "none of its manager's processes is left", nil
	}
	return true, fmt.Sprintf("all threads of %s are stopped (state T)", r.whom()), nil
}

// release resumes the server unless another pause stands: that one does it then.
func (p pause) release(r record) error {
	if p.others(r.Name) {
		return nil
	}
	r = p.known(r)
	return thaw(r.targets())
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
	began := r.IntendedAt
	if r.InjectedAt != nil {
		began = *r.InjectedAt
	}
	stands, seen := p.examine(r)
	return !stands && !p.killed(began.Time), seen
}

func (p pause) examine(r record) (bool, string) {
	r = p.known(r)
	if len(r.targets()) == 0 {
		return false, "no server process exists"
	}
	if r.Server != nil && !r.Server.Alive() {
		return false, gone(r.Server.PID)
	}
	stopped, seen, err := allStopped(r)
	if err != nil {
		return true, err.Error()
	}
	return stopped, seen
}

// known is the record with the stopped processes, or with all that run where those were not noted.
func (p pause) known(r record) record {
	if len(r.targets()) > 0 {
		return r
	}
	all, err := p.family.All()
	if err != nil {
		return r
	}
	r.hit(all, p.server())
	return r
}
