// Package fault injects faults into a node, each at most once, and keeps a durable note of each: what was intended is
// on the volume before anything is done, what was done and seen is there after. A fault of which the agent cannot know
// whether it happened, because the agent itself ended in between, is reported as unconfirmed and never repeated.
package fault

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
)

// Errors of a Manager that its callers tell apart.
var (
	ErrInvalid  = errors.New("invalid fault")
	ErrOtherPod = errors.New("the fault is meant for another pod")
	ErrUnknown  = errors.New("no such fault")
)

const (
	// releaseRetry is the time after which a release that failed is tried again.
	releaseRetry = time.Second
	// watchInterval is the time between two looks at what a hold is to keep as it is.
	watchInterval = 200 * time.Millisecond
)

// Manager injects and releases the faults of one node.
type Manager struct {
	records   notes.Folder[record]
	podUID    string
	actions   map[wire.FaultAction]action
	partition partition

	mu     sync.Mutex // guards the map alone
	faults map[string]*fault
}

// fault is one fault; its mutex is held while it is acted on. Its record can be read at any time and is nil until the
// intent is on disk.
type fault struct {
	mu        sync.Mutex
	record    atomic.Pointer[record]
	concluded chan struct{} // closed once the record is concluded
	timer     *time.Timer
}

func newFault() *fault { return &fault{concluded: make(chan struct{})} }

// New returns the manager of the faults noted in stateDir, which puts its holds into holdDir. family is the server's. It concludes what an
// earlier agent left unfinished and goes on with the holds that stand.
func New(stateDir, holdDir, podUID string, server *proc.Finder, family *proc.Family) (*Manager, error) {
	m := &Manager{records: recordsIn(stateDir), podUID: podUID, faults: map[string]*fault{}, partition: partition{storeOf(os.Getenv)}}
	whole := kill{target{server, family}, holdDir, m.othersPaused}
	first := whole
	first.family = proc.NewFamily(server, nil)
	m.actions = map[wire.FaultAction]action{
		wire.FaultKill:       whole,
		wire.FaultKillServer: first,
		wire.FaultPause:      pause{target{server, family}, m.othersPaused, m.killed},
		wire.FaultPartition:  m.partition,
		wire.FaultHold:       holdOnly{whole, podUID},
	}
	kept, err := m.records.Load()
	if err != nil {
		return nil, err
	}
	for _, r := range kept {
		if err := m.recover(r); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Close stops the timers. What stands goes on to stand; the next Manager releases it.
func (m *Manager) Close() {
	for _, f := range m.all() {
		f.mu.Lock()
		if f.timer != nil {
			f.timer.Stop()
		}
		f.mu.Unlock()
	}
}

// Put injects the fault and returns its record at once; whether the effect is seen is in the record as soon as it is
// concluded. Under a name that it knows it injects nothing: it returns the record, after it has given a concluded partition
// that stands its new addresses.
func (m *Manager) Put(request wire.FaultRequest) (wire.FaultRecord, error) {
	f, err := m.admit(request)
	if err != nil {
		return wire.FaultRecord{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.record.Load(); known != nil {
		return m.repeat(f, *known, request)
	}
	r := record{FaultRecord: wire.FaultRecord{FaultRequest: request, IntendedAt: metav1.NowMicro()}}
	r.HeldUntil = r.holdEnd(r.IntendedAt)
	if err := m.keep(f, r); err != nil {
		return wire.FaultRecord{}, fmt.Errorf("fault %s was not injected, since its intent could not be noted: %w", r.Name, err)
	}
	return m.carryOut(f, r)
}

// admit returns the fault of that name, a new one if the request is good and meant for this pod.
func (m *Manager) admit(request wire.FaultRequest) (*fault, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.faults[request.Name]; ok {
		return f, nil
	}
	if err := validate(request); err != nil {
		return nil, err
	}
	if request.PodUID != m.podUID {
		return nil, fmt.Errorf("%w: it names UID %q, this pod has %q", ErrOtherPod, request.PodUID, m.podUID)
	}
	f := newFault()
	m.faults[request.Name] = f
	return f, nil
}

// carryOut injects a fault whose intent is noted. A failed note leaves the record in memory right, so a repeated
// request is answered right; a new agent would find the intent and report the fault as unconfirmed. The caller holds f.mu.
func (m *Manager) carryOut(f *fault, r record) (wire.FaultRecord, error) {
	if err := m.actions[r.Action].inject(&r); err != nil {
		slog.Error("a fault could not be injected", "fault", r.Name, "error", err)
		r.Concluded, r.Evidence = true, "not injected: "+err.Error()
		close(f.concluded)
		return m.release(f, r)
	}
	slog.Info("injected a fault", "fault", r.Name, "action", r.Action)
	err := m.keep(f, r)
	go m.conclude(f, r)
	return r.FaultRecord, err
}

// conclude waits for the effect of a fault that was injected. Its hold ends not before that: what is undone is not seen.
func (m *Manager) conclude(f *fault, r record) {
	r.Confirmed, r.Evidence = m.actions[r.Action].confirm(r)
	r.Concluded = true
	f.mu.Lock()
	defer f.mu.Unlock()
	defer close(f.concluded)
	if r.HoldMilliseconds == 0 {
		_, _ = m.release(f, r) // it logs, and tries again
		return
	}
	if err := m.keep(f, r); err != nil {
		slog.Error("the evidence of a fault could not be written", "fault", r.Name, "error", err)
	}
	m.schedule(f, r)
}

// repeat answers a request under a name that is known.
func (m *Manager) repeat(f *fault, r record, request wire.FaultRequest) (wire.FaultRecord, error) {
	if request.PodUID != r.PodUID {
		return r.FaultRecord, fmt.Errorf("%w: fault %s was meant for UID %q, not %q", ErrOtherPod, r.Name, r.PodUID, request.PodUID)
	}
	if r.Action != wire.FaultPartition || !r.Concluded || r.ReleasedAt != nil || slices.Equal(r.Addresses, request.Addresses) {
		return r.FaultRecord, nil
	}
	request.Action, request.Store = r.Action, r.Store
	if err := validate(request); err != nil {
		return r.FaultRecord, err
	}
	added := slices.DeleteFunc(slices.Clone(request.Addresses), func(a string) bool { return slices.Contains(r.Addresses, a) })
	r.Addresses = request.Addresses
	if err := m.partition.cut(r); err != nil {
		return r.FaultRecord, fmt.Errorf("give fault %s its new addresses: %w", r.Name, err)
	}
	at := metav1.NowMicro()
	r.Widened = slices.Clone(r.Widened)
	for _, a := range added {
		r.Widened = append(r.Widened, wire.Widening{Address: a, At: at})
	}
	return r.FaultRecord, m.keep(f, r)
}

// Get returns the record of a fault, as it is at the moment.
func (m *Manager) Get(name string) (wire.FaultRecord, error) {
	f := m.find(name)
	if f == nil || f.record.Load() == nil {
		return wire.FaultRecord{}, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	return f.record.Load().FaultRecord, nil
}

// Holds are the names of the faults that stand.
func (m *Manager) Holds() []string {
	var names []string
	for _, f := range m.all() {
		if r := f.record.Load(); r != nil && r.stands() {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// othersPaused tells whether another pause than the named one stands.
func (m *Manager) othersPaused(name string) bool {
	return slices.ContainsFunc(m.all(), func(f *fault) bool {
		r := f.record.Load()
		return r != nil && r.Action == wire.FaultPause && r.Name != name && r.stands()
	})
}

// killed tells whether another fault has killed the server since a moment, or is about to. What was killed before is not the server that ran
// then.
func (m *Manager) killed(since time.Time) bool {
	return slices.ContainsFunc(m.all(), func(f *fault) bool {
		r := f.record.Load()
		return r != nil && (r.Action == wire.FaultKill || r.Action == wire.FaultKillServer) &&
			(!r.Concluded || r.InjectedAt != nil && !r.InjectedAt.Time.Before(since))
	})
}

func (m *Manager) find(name string) *fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.faults[name]
}

func (m *Manager) all() []*fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.faults))
}

// keep notes a record on disk and shows it to readers: that a fault was injected at once, and what was seen of it once an agent that comes
// after this one would say the same.
func (m *Manager) keep(f *fault, r record) error {
	happened := r.InjectedAt != nil // and is so, noted or not
	if happened && !r.Concluded {
		f.record.Store(&r)
	}
	err := m.records.Save(r.Name, r)
	if err == nil || happened {
		f.record.Store(&r)
	}
	return err
}
