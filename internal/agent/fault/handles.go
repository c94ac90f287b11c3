package fault

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/proc"
)

const (
	// freezePatience is how long the processes of a family are given to stop. One that waits for a disk stops when the disk has answered, and
	// starts no other one before.
	freezePatience = 250 * time.Millisecond
	// freezeMost bounds the wait for processes that keep starting others.
	freezeMost     = 2 * time.Second
	freezeInterval = time.Millisecond
)

// target is what a fault signals.
type target struct {
	finder *proc.Finder
	family *proc.Family
}

// server is nil while none runs.
func (t target) server() *proc.Process {
	p, err := t.finder.Find()
	if err != nil {
		return nil
	}
	return &p
}

// handles are open handles of the processes that a fault signals.
type handles []*proc.Handle

// open opens handles of those processes that have none yet, and returns them. A process that has ended is passed over.
func (h *handles) open(all []proc.Process) (fresh handles, err error) {
	for _, p := range all {
		if slices.ContainsFunc(*h, func(known *proc.Handle) bool { return known.Process == p }) {
			continue
		}
		handle, failed := p.Open()
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		fresh = append(fresh, handle)
	}
	*h = append(*h, fresh...)
	if len(*h) > 0 {
		err = nil
	}
	return fresh, err
}

func (h handles) close() {
	for _, p := range h {
		_ = p.Close()
	}
}

// signal returns an error when no process could be signalled: some of them may have ended.
func (h handles) signal(s unix.Signal) error {
	var errs []error
	for _, p := range h {
		if err := p.Signal(s); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) < len(h) {
		return nil
	}
	return errors.Join(errs...) // nil without handles
}

// stopped tells whether each of them is stopped or has ended.
func (h handles) stopped() bool {
	return !slices.ContainsFunc(h, func(p *proc.Handle) bool {
		stopped, _ := p.Stopped()
		return !stopped && p.Alive()
	})
}

func (h handles) processes() (all []proc.Process) {
	for _, p := range h {
		all = append(all, p.Process)
	}
	return all
}

// freeze stops all processes of a family, so that none of them can start another one, or see how the others fare, while they are signalled.
// A process may have started one before it stopped: they are looked for until, with all stopped, there is no other. The caller closes them.
// at is right before the first of them was told to stop.
func freeze(family *proc.Family) (h handles, at time.Time, err error) {
	for began := time.Now(); ; {
		still := len(h) > 0 && h.stopped()
		all, err := family.All()
		if err != nil && (len(h) == 0 || !errors.Is(err, proc.ErrNone)) {
			return nil, at, errors.Join(err, h.abandon())
		}
		fresh, err := h.open(all)
		if err != nil {
			return nil, at, err
		}
		if at.IsZero() {
			at = time.Now()
		}
		if err := fresh.signal(unix.SIGSTOP); err != nil && len(fresh) == len(h) {
			return nil, at, errors.Join(err, h.abandon())
		}
		late := time.Since(began)
		if len(fresh) == 0 && (still || late > freezePatience) || late > freezeMost {
			return h, at, nil
		}
		time.Sleep(freezeInterval) // between two looks
	}
}

// abandon lets all of them run, and lets go of them.
func (h handles) abandon() error {
	defer h.close()
	return thaw(h.processes())
}

// thaw lets processes run, the last first: managers find their servers running. Those that have ended are passed over.
func thaw(all []proc.Process) (err error) {
	for _, p := range slices.Backward(all) {
		h, failed := p.Open()
		if failed == nil {
			failed = h.Signal(unix.SIGCONT)
			_ = h.Close()
		}
		if failed != nil && p.Alive() {
			err = errors.Join(err, failed)
		}
	}
	return err
}
