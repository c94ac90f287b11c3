package link

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

const podUID = "pod-uid"

func newManager(t *testing.T) *Manager {
	t.Helper()
	netns.Need(t)
	m, err := New(podUID)
	must(t, err)
	t.Cleanup(func() {
		_, err := m.Clear()
		must(t, err)
	})
	return m
}

func links(peers ...wire.Peer) wire.Links { return wire.Links{PodUID: podUID, Peers: peers} }

// near and far answer on loopback: what far sends is delayed, on its way back, and what near sends where that is asked for too.
const near, far = "127.0.0.1", "127.0.0.2"

// trip is the median round trip from near to far: packets of both pass the same filter, as each end's do its own.
func trip(t *testing.T, samples int) time.Duration {
	t.Helper()
	trips, err := Measure(t.Context(), wire.RoundTripRequest{Addresses: []string{far}, Samples: samples, IntervalMilliseconds: 5, TimeoutMilliseconds: 5000})
	must(t, err)
	r := trips.RoundTrips[0]
	if r.Samples != int64(samples) || r.P99Microseconds < r.P50Microseconds {
		t.Fatalf("round trips: %+v", r)
	}
	return time.Duration(r.P50Microseconds) * time.Microsecond
}

// becomes waits for a round trip of no more than that: one measurement may be of a moment in which the processors were taken.
func becomes(t *testing.T, most time.Duration) {
	t.Helper()
	var d time.Duration
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if d = trip(t, 5); d <= most {
			return
		}
	}
	t.Fatalf("the round trip is %s, want at most %s", d, most)
}

func TestALinkDelaysWhatComesFromItsAddress(t *testing.T) {
	m := newManager(t)
	becomes(t, 20*time.Millisecond)
	s, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 40_000}, wire.Peer{Address: near, DelayMicroseconds: 40_000}))
	must(t, err)
	if s.Session == "" || s.SetAt == nil || !s.BeganAt.Before(s.SetAt) || s.Packets == nil {
		t.Errorf("state: %+v", s)
	}
	if d := trip(t, 5); d < 80*time.Millisecond {
		t.Errorf("with 40 ms on either side the round trip is %s", d)
	}
	again, err := m.Set(s.Links)
	must(t, err)
	if !again.SetAt.Equal(s.SetAt) || !again.BeganAt.Equal(s.BeganAt) || again.Session != s.Session {
		t.Errorf("the same links were set anew: %+v, %+v", s, again)
	}
	_, err = m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 10_000}))
	must(t, err)
	if d := trip(t, 5); d < 10*time.Millisecond {
		t.Errorf("with 10 ms on one side the round trip is %s", d)
	}
	becomes(t, 60*time.Millisecond)
	s = m.State()
	if *s.Packets < 15 || *s.Dropped != 0 || len(s.Peers) != 1 || s.At.Before(s.SetAt) {
		t.Errorf("counted at %s: %d packets, %d dropped, %d peers", s.At, *s.Packets, *s.Dropped, len(s.Peers))
	}
	if c := m.Counts(); c.Session != s.Session || c.Packets < *s.Packets || len(c.Delays) != 2 {
		t.Errorf("counts %+v beside %d packets of session %s", c, *s.Packets, s.Session)
	}
	last, err := m.Clear()
	must(t, err)
	if *last.Packets < *s.Packets || len(last.Peers) != 0 {
		t.Errorf("in the end: %+v", last)
	}
	becomes(t, 9*time.Millisecond)
}

// TestLinksMayEndForAWhile: the same agent sets them again, and goes on counting.
func TestLinksMayEndForAWhile(t *testing.T) {
	m := newManager(t)
	far := links(wire.Peer{Address: far, DelayMicroseconds: 30_000})
	_, err := m.Set(far)
	must(t, err)
	if d := trip(t, 3); d < 30*time.Millisecond {
		t.Errorf("with a link the round trip is %s", d)
	}
	ended, err := m.Set(links())
	must(t, err)
	if *ended.Packets < 3 || *ended.Dropped != 0 {
		t.Errorf("after its end: %+v", ended)
	}
	becomes(t, 20*time.Millisecond)
	again, err := m.Set(far)
	must(t, err)
	if d := trip(t, 3); d < 30*time.Millisecond || again.Session != ended.Session || !again.SetAt.After(ended.SetAt.Time) {
		t.Errorf("set again, the round trip is %s: %+v after %+v", d, again, ended)
	}
	if s := m.State(); *s.Packets < 6 {
		t.Errorf("%+v", s)
	}
}

// TestLinksEndWithTheirAgent: they neither cut off nor go on, and the next agent is known to be another.
func TestLinksEndWithTheirAgent(t *testing.T) {
	m := newManager(t)
	s, err := m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 50_000}))
	must(t, err)
	if q, ok := m.delayer.(*queues); ok { // it dies without a word
		for _, o := range q.open {
			must(t, o.end())
		}
		becomes(t, 40*time.Millisecond)
	}
	next, err := New(podUID)
	must(t, err)
	state := next.State()
	if state.Session == s.Session || state.Session == "" || len(state.Peers) != 0 {
		t.Errorf("the next agent's: %+v", state)
	}
	becomes(t, 40*time.Millisecond)
	m.delayer = nil
}

// halfway is a delayer that fails some times.
type halfway struct {
	delayer
	failures int
}

func (h *halfway) set([]lane) error {
	if h.failures--; h.failures >= 0 {
		return errors.New("no room")
	}
	return nil
}

func (h *halfway) report(*wire.LinksState) {}

func (h *halfway) close() error { return nil }

// TestLinksBeginWithTheFirstAttempt: of what failed half-way a part may have stood since.
func TestLinksBeginWithTheFirstAttempt(t *testing.T) {
	d := &halfway{}
	m := &Manager{podUID: podUID, delayer: d}
	first, err := m.Set(links())
	must(t, err)
	d.failures = 2
	wanted := links(wire.Peer{Address: far, DelayMicroseconds: 10_000})
	if _, err := m.Set(wanted); err == nil {
		t.Fatal("it was set")
	}
	failed := time.Now()
	if _, err := m.Set(wanted); err == nil {
		t.Fatal("it was set")
	}
	s, err := m.Set(wanted)
	must(t, err)
	if s.BeganAt.Before(first.SetAt) || s.BeganAt.After(failed) || s.SetAt.Time.Before(failed) {
		t.Errorf("set from %s to %s, want a beginning between %s and %s", s.BeganAt, s.SetAt, first.SetAt, failed)
	}
	next, err := m.Set(links())
	must(t, err)
	if next.BeganAt.Before(s.SetAt) {
		t.Errorf("the next ones began at %s, before those before them were set at %s", next.BeganAt, s.SetAt)
	}
	d.failures = 1
	if _, err := m.Set(wanted); err == nil {
		t.Fatal("it was set")
	}
	_, err = m.Clear()
	must(t, err)
	cleared := time.Now()
	m.delayer = d
	if s, err = m.Set(wanted); err != nil || s.BeganAt.Time.Before(cleared) {
		t.Errorf("after all was ended at %s they began at %s, %v", cleared, s.BeganAt, err)
	}
}

func TestLinksOfAnotherPodAreRefused(t *testing.T) {
	m := &Manager{podUID: podUID}
	if _, err := m.Set(wire.Links{PodUID: "other"}); !errors.Is(err, ErrOtherPod) || !strings.Contains(err.Error(), "other") {
		t.Errorf("error is %v", err)
	}
	if _, err := m.Set(links(wire.Peer{Address: "nowhere"})); !errors.Is(err, ErrInvalid) {
		t.Errorf("error is %v", err)
	}
}

func TestMeasure(t *testing.T) {
	netns.Need(t)
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", far, wire.PortAgent))
	must(t, err)
	defer l.Close()
	trips, err := Measure(t.Context(), wire.RoundTripRequest{Addresses: []string{near, far}, Samples: 3, IntervalMilliseconds: 1, TimeoutMilliseconds: 1000})
	must(t, err)
	for i, address := range []string{near, far} { // nobody listens on the one, somebody on the other
		if r := trips.RoundTrips[i]; r.Address != address || r.Samples != 3 || r.Why != "" {
			t.Errorf("to %s: %+v", address, r)
		}
	}
	for _, r := range []wire.RoundTripRequest{{Samples: 0, TimeoutMilliseconds: 1}, {Samples: 1}, {Samples: 1_000_000, TimeoutMilliseconds: 1}} {
		if _, err := Measure(t.Context(), r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	var answers []answer
	for i := range 100 {
		answers = append(answers, answer{after: time.Duration(i+1) * time.Millisecond})
	}
	answers = append(answers, answer{err: errors.New("timed out")})
	if r := roundTrip("a", answers); r.Samples != 100 || r.P50Microseconds != 50_000 || r.P99Microseconds != 99_000 || r.Why != "timed out" {
		t.Errorf("%+v", r)
	}
	if r := roundTrip("a", answers[100:]); r.Samples != 0 || r.P50Microseconds != 0 || r.Why == "" {
		t.Errorf("%+v", r)
	}
}

// onceStuck is a delayer that cannot be changed once.
type onceStuck struct{ sets int }

func (d *onceStuck) set([]lane) error {
	if d.sets++; d.sets == 2 {
		return errors.New("busy")
	}
	return nil
}

func (*onceStuck) report(*wire.LinksState) {}

func (*onceStuck) counts(*wire.LinkCounts) {}

func (*onceStuck) close() error { return nil }

// TestLinksThatAreHalfChangedAreSetAgain, also those that stood before.
func TestLinksThatAreHalfChangedAreSetAgain(t *testing.T) {
	d := &onceStuck{}
	m := &Manager{podUID: podUID, begin: func() (delayer, error) { return d, nil }}
	before := links(wire.Peer{Address: far, DelayMicroseconds: 5_000})
	_, err := m.Set(before)
	must(t, err)
	if _, err := m.Set(links()); err == nil {
		t.Error("a change that failed is no error")
	}
	if s := m.State(); s.SetAt != nil {
		t.Errorf("nobody knows what is delayed, and it says %+v", s)
	}
	s, err := m.Set(before)
	if must(t, err); d.sets != 3 || s.SetAt == nil {
		t.Errorf("set %d times, want 3: %+v", d.sets, s)
	}
}
