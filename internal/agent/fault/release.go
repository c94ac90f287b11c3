package fault

import (
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// Release ends the hold of a fault, once that is concluded, and returns its record. A fault that is over stays as it is.
func (m *Manager) Release(name string) (wire.FaultRecord, error) {
	f := m.find(name)
	if f == nil || f.record.Load() == nil {
		return wire.FaultRecord{}, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	<-f.concluded
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.record.Load()
	if r.ReleasedAt != nil {
		return r.FaultRecord, nil
	}
	return m.release(f, *r)
}

// release undoes what of a fault can be undone. Where that fails it is tried again and again. The caller holds f.mu.
func (m *Manager) release(f *fault, r record) (wire.FaultRecord, error) {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	before := r
	now := metav1.NowMicro()
	r.ReleasedAt = &now
	f.record.Store(&r) // first, so that of two pauses that end at once, the second sees that the first is over
	err := m.actions[r.Action].release(r)
	if err == nil {
		err = m.records.Save(r.Name, r)
	}
	if err != nil {
		f.record.Store(&before)
		slog.Error("a fault could not be released, trying again", "fault", r.Name, "error", err)
		f.timer = time.AfterFunc(releaseRetry, func() { m.releaseDue(f) })
		return before.FaultRecord, fmt.Errorf("release fault %s (the agent tries again): %w", r.Name, err)
	}
	slog.Info("released a fault", "fault", r.Name)
	return r.FaultRecord, nil
}

// schedule has a hold watched, and ended when its time has come. The caller holds f.mu.
func (m *Manager) schedule(f *fault, r record) {
	wait := watchInterval
	if r.HeldUntil != nil {
		wait = min(wait, time.Until(r.HeldUntil.Time))
	}
	f.timer = time.AfterFunc(wait, func() { m.watch(f) })
}

// watch ends a hold whose time has come, or that somebody else has ended already.
func (m *Manager) watch(f *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := *f.record.Load()
	if r.ReleasedAt != nil {
		return
	}
	if r.HeldUntil == nil || time.Now().Before(r.HeldUntil.Time) {
		broken, seen := m.actions[r.Action].broken(r)
		if !broken {
			m.schedule(f, r)
			return
		}
		slog.Warn("a fault ended before its time", "fault", r.Name, "seen", seen)
		r.Evidence = beforeItsTime(r, seen)
	}
	_, _ = m.release(f, r) // it logs, and tries again
}

func (m *Manager) releaseDue(f *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.record.Load(); r.ReleasedAt == nil {
		_, _ = m.release(f, *r) // it logs, and tries again
	}
}

// recover takes up a record that an earlier agent has left.
func (m *Manager) recover(r record) error {
	f := newFault()
	close(f.concluded)
	f.mu.Lock()
	defer f.mu.Unlock()
	m.mu.Lock()
	m.faults[r.Name] = f
	m.mu.Unlock()
	f.record.Store(&r)
	if r.Concluded && r.ReleasedAt != nil {
		return nil
	}
	act, ok := m.actions[r.Action]
	if !ok {
		return fmt.Errorf("the note of fault %s has the action %q, which this agent does not know", r.Name, r.Action)
	}
	stands, seen := act.examine(r)
	if r.PodUID != m.podUID && !r.outlivesPod() {
		stands, seen = false, "its pod is gone, and the fault ended with it"
	}
	over := r.HeldUntil != nil && !time.Now().Before(r.HeldUntil.Time)
	if !r.Concluded || !stands && !over {
		r.Evidence = afterwards(r, seen)
	}
	r.Concluded = true
	if !stands || r.HoldMilliseconds == 0 {
		_, _ = m.release(f, r) // it logs, and tries again
		return nil
	}
	if err := m.records.Save(r.Name, r); err != nil {
		return err
	}
	f.record.Store(&r)
	m.schedule(f, r)
	return nil
}

// afterwards is the evidence of a fault that an agent found when it began: of one that was concluded and has ended before its time,
// or of one whose agent ended in the middle of it.
func afterwards(r record, seen string) string {
	switch {
	case r.Concluded:
		return beforeItsTime(r, seen)
	case r.InjectedAt == nil:
		return "the agent ended between the intent and the act, so it is not known whether the fault took place; it was not repeated. Seen afterwards: " + seen
	default:
		return "injected, but the agent ended before it had seen the effect. Seen afterwards: " + seen
	}
}

func beforeItsTime(r record, seen string) string {
	return r.Evidence + "; it ended before its time: " + seen
}
