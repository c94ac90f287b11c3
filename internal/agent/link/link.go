// Package link delays what comes to a pod from other addresses, so that they seem far away. Packets wait in a queue of the kernel that this
// process reads. Nothing is dropped and nothing overtakes, also when links or partitions begin and end. What it cannot keep to, it counts and
// tells. It needs NET_ADMIN.
//
// A queue without a reader lets packets pass: an agent that dies ends the distance, and does not cut its node off as well. The next
// agent knows of no links, and has another session: so it shows.
//
// Delays are constant. Jitter and loss would be fields of wire.Peer, and properties of a lane.
package link

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
)

// ErrOtherPod is of links that are meant for another pod.
var ErrOtherPod = errors.New("the links are meant for another pod")

// delayer delays packets.
type delayer interface {
	// set makes these what is delayed, whatever was before.
	set([]lane) error
	// report what was counted so far.
	report(*wire.LinksState)
	// counts are the same, as far as the kernel need not be asked.
	counts(*wire.LinkCounts)
	// close ends all delay. What waits is let go in its time.
	close() error
}

// Manager delays for one pod.
type Manager struct {
	mu      sync.Mutex
	podUID  string
	state   wire.LinksState // without counters
	delayer delayer         // nil while nothing is delayed
	begin   func() (delayer, error)
}

// New returns a manager that delays nothing. What a process before it delayed is at an end.
func New(podUID string) (*Manager, error) {
	if err := nft.EndDelays(); err != nil && !neverDelayed(err) {
		return nil, fmt.Errorf("end the delays of an earlier agent: %w", err)
	}
	return &Manager{podUID: podUID, state: wire.LinksState{Session: rand.Text()}, begin: func() (delayer, error) { return newQueues() }}, nil
}

// neverDelayed tells from an error that an agent that may do no more than this one had no links: it may not, or there is no packet
// filter that it could ask.
func neverDelayed(err error) bool {
	for _, e := range []error{unix.EPERM, unix.EACCES, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Set makes these the links; again with the same effect.
func (m *Manager) Set(links wire.Links) (wire.LinksState, error) {
	lanes, err := lanesOf(links.Peers)
	if err != nil {
		return wire.LinksState{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if links.PodUID != m.podUID {
		return wire.LinksState{}, fmt.Errorf("%w: they name UID %q, this pod has %q", ErrOtherPod, links.PodUID, m.podUID)
	}
	if m.state.SetAt == nil || !slices.Equal(links.Peers, m.state.Peers) {
		if m.state.SetAt != nil || m.state.BeganAt == nil { // else a part of an attempt that failed may have stood since that
			m.state.BeganAt = new(metav1.NowMicro())
		}
		m.state.SetAt = nil // what fails half-way is none of both
		if err := m.apply(lanes); err != nil {
			return wire.LinksState{}, err
		}
		now := metav1.NowMicro()
		m.state.Links, m.state.SetAt = links, &now
	}
	return m.report(), nil
}

func (m *Manager) apply(lanes []lane) error {
	if m.delayer == nil {
		if len(lanes) == 0 {
			return nil
		}
		d, err := m.begin()
		if err != nil {
			return err
		}
		if err := d.set(lanes); err != nil {
			return errors.Join(err, d.close())
		}
		m.delayer = d
		return nil
	}
	return m.delayer.set(lanes)
}

// State tells what is delayed, and what came of it.
func (m *Manager) State() wire.LinksState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.report()
}

// Counts tells what was counted so far without asking the kernel: it may be called often.
func (m *Manager) Counts() wire.LinkCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := wire.LinkCounts{Session: m.state.Session}
	if m.delayer != nil {
		m.delayer.counts(&told)
	}
	return told
}

func (m *Manager) report() wire.LinksState {
	s := m.state
	s.At = metav1.NowMicro()
	if m.delayer != nil {
		m.delayer.report(&s)
	}
	return s
}

// Clear ends all delay, and tells what came of it.
func (m *Manager) Clear() (wire.LinksState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.delayer == nil {
		if m.state.SetAt == nil {
			m.state.BeganAt = nil // nothing stands of what was tried
		}
		return m.report(), nil
	}
	s := m.report()
	if err := m.delayer.close(); err != nil {
		return s, err
	}
	m.delayer = nil
	m.state = wire.LinksState{Session: m.state.Session}
	s.Links, s.BeganAt, s.SetAt = wire.Links{PodUID: m.podUID}, nil, nil
	return s, nil
}
