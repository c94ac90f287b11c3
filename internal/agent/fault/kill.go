package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
)

// endTimeout is how long a killed process may take to end; one with much memory takes a while.
const endTimeout = 10 * time.Second

// kill sends SIGKILL to the server, and where a manager runs it to all that either has started. Its hold keeps the wrapper from starting the
// next one.
type kill struct {
	target
	holdDir string
	paused  func(name string) bool // whether a pause other than this fault stands
}

func (k kill) inject(r *record) error {
	all, err := k.family.All()
	if err != nil {
		return err
	}
	var h handles
	if _, err := h.open(all); err != nil {
		return err
	}
	defer func() { h.close() }()
	server := &h[0].Process
	if err := putHold(k.holdDir, *r); err != nil { // first: the kubelet may be quick
		return err
	}
	at := time.Now()
	if k.family.Managed() {
		h.close()
		if h, at, err = freeze(k.family); err != nil {
			return err
		}
		server = k.server()
	}
	if err := h.signal(unix.SIGKILL); err != nil { // all have ended
		return err
	}
	r.injected(at)
	r.hit(h.processes(), server)
	_ = putHold(k.holdDir, *r) // a few milliseconds more; the hold that stands will do as well
	return nil
}

func (k kill) confirm(r record) (bool, string) {
	deadline := time.Now().Add(endTimeout)
	for _, p := range r.targets() {
		if ended, err := hasEnded(p, deadline); err != nil {
			return false, err.Error()
		} else if !ended {
			return false, fmt.Sprintf("%s had not ended %s after SIGKILL", r.name(p), endTimeout)
		}
	}
	return true, goneText(r)
}

// hasEnded waits for the end of a process until the deadline.
func hasEnded(p proc.Process, deadline time.Time) (bool, error) {
	h, err := p.Open()
	if err != nil {
		if p.Alive() {
			return false, err
		}
		return true, nil
	}
	defer h.Close()
	return h.Ended(time.Until(deadline))
}

func goneText(r record) string {
	if r.Server != nil && len(r.Others) == 0 {
		return gone(r.Server.PID)
	}
	return r.whom() + " are gone"
}

func gone(pid int) string { return fmt.Sprintf("server process %d is gone", pid) }

// release lets those run that an agent had stopped to kill them, and had not killed when it ended itself.
func (k kill) release(r record) error {
	err := notes.RemoveHold(k.holdDir, r.Name)
	if r.InjectedAt != nil || !k.family.Managed() || k.paused(r.Name) {
		return err
	}
	all, missing := k.family.All()
	if errors.Is(missing, proc.ErrNone) {
		return err
	}
	return errors.Join(err, missing, thaw(all))
}

// startSlack is how long before the end of its hold a server may begin, as far as its age is known.
const startSlack = 100 * time.Millisecond

// broken finds a server that was started while it was to stay down.
func (k kill) broken(r record) (bool, string) {
	p, err := k.finder.Find()
	if err != nil || slices.Contains(r.targets(), p) { // there is none; or the one that was killed takes its time
		return false, ""
	}
	started, err := p.StartedAt()
	if err != nil || r.HeldUntil != nil && started.After(r.HeldUntil.Add(-startSlack)) {
		return false, ""
	}
	return true, fmt.Sprintf("server process %d was started meanwhile", p.PID)
}

func (k kill) examine(r record) (bool, string) {
	stands, seen := examineHold(k.holdDir, r)
	return stands, seen + "; " + k.examineServer(r)
}

func (k kill) examineServer(r record) string {
	p, err := k.finder.Find()
	if errors.Is(err, proc.ErrNone) {
		return "no server process exists"
	}
	if err != nil {
		return err.Error()
	}
	started, err := p.StartedAt()
	if err != nil {
		return err.Error()
	}
	if started.Before(r.IntendedAt.Time) {
		return fmt.Sprintf("server process %d runs since before the intent, so it was not killed", p.PID)
	}
	return fmt.Sprintf("server process %d was started after the intent", p.PID)
}

// holdOnly puts a hold and does nothing to the server that runs: the next pod's is held.
type holdOnly struct {
	kill
	podUID string
}

func (o holdOnly) inject(r *record) error {
	at := time.Now()
	r.injected(at)
	err := putHold(o.holdDir, *r)
	if err != nil {
		r.InjectedAt = nil
	}
	return err
}

func (o holdOnly) confirm(r record) (bool, string) { return examineHold(o.holdDir, r) }

func (o holdOnly) broken(r record) (bool, string) {
	if r.PodUID == o.podUID { // the pod is still to be deleted
		return false, ""
	}
	return o.kill.broken(r)
}

func (o holdOnly) examine(r record) (bool, string) { return examineHold(o.holdDir, r) }

// putHold does nothing for a fault without a hold.
func putHold(holdDir string, r record) error {
	if r.HoldMilliseconds == 0 {
		return nil
	}
	h := notes.Hold{Fault: r.Name}
	if r.HeldUntil != nil {
		h.Until = &r.HeldUntil.Time
	}
	return notes.PutHold(holdDir, h)
}

func examineHold(holdDir string, r record) (bool, string) {
	standing, err := notes.StandingHolds(holdDir, time.Now())
	if err != nil {
		return false, err.Error()
	}
	if slices.ContainsFunc(standing, func(h notes.Hold) bool { return h.Fault == r.Name }) {
		return true, "its hold stands: a server that is started waits"
	}
	return false, "no hold of it stands"
}
