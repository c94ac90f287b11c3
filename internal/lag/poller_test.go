package lag

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// polls sees a write with its first look, or with its second one.
type polls struct {
	Watcher
	misses bool
	missed time.Time
}

func (p *polls) Wait(uint64, time.Duration) (bool, error) {
	if p.misses {
		p.missed = time.Now()
	}
	return true, nil
}

func (p *polls) Missed() (began, ended time.Time) { return p.missed, p.missed }

func TestAPollThatMissesNarrowsTheResolution(t *testing.T) {
	n := polled(t, &polls{misses: true})
	if n.Samples != 1 || *n.ResolutionP50Microseconds > time.Minute.Microseconds() || n.Censored != 0 {
		t.Errorf("%d samples, %d censored, resolution %d µs", n.Samples, n.Censored, *n.ResolutionP50Microseconds)
	}
}

// TestWhatAPollSeesAtOnceIsCensored: nobody looked for it before, though a wait was out when it began.
func TestWhatAPollSeesAtOnceIsCensored(t *testing.T) {
	n := polled(t, &polls{})
	if n.Samples != 1 || *n.ResolutionP50Microseconds < time.Hour.Microseconds() || n.Censored != 1 {
		t.Errorf("%d samples, %d censored, resolution %d µs", n.Samples, n.Censored, *n.ResolutionP50Microseconds)
	}
}

// TestANodeThatIsPolledIsCheckedRarely: its waiter looks already.
func TestANodeThatIsPolledIsCheckedRarely(t *testing.T) {
	for name, c := range map[string]struct {
		polled  bool
		waiting uint64
		want    time.Duration
	}{
		"polled":                            {true, 1, mostGap},
		"woken":                             {false, 1, 0},
		"polled for a write that is lost":   {true, 7, 0},
		"polled by none, without a session": {true, 0, 0},
	} {
		p := begun(t, c.polled)
		p.update(func(b *state) { b.tracks[0].waiting = c.waiting })
		if at, _, _, some := p.due(0); !some || at != time.Minute+c.want {
			t.Errorf("%s: checked %s after the acknowledgement, want %s", name, at-time.Minute, c.want)
		}
	}
}

// TestAWriteThatIsSeenIsNotAwaited: until it is acknowledged a poller would see it again and again, without a pause.
func TestAWriteThatIsSeenIsNotAwaited(t *testing.T) {
	p, err := New(configured(t))
	if err != nil {
		t.Fatal(err)
	}
	p.update(func(b *state) {
		b.tracks[0].identify(engine.LagWatched{Identity: "b", CommitOrder: true, Polled: true})
		b.begin(1, engine.LagWriter{Identity: "a", Hostname: "a"}, 0, true, 0)
	})
	if first, last, idle := p.awaited(0); first != 1 || last != 1 || idle {
		t.Errorf("awaits %d to %d, idle %t", first, last, idle)
	}
	p.update(func(b *state) { b.tracks[0].observe(reading{first: 1, last: 1, end: time.Second}) })
	if first, last, idle := p.awaited(0); first != 2 || last != 2 || idle {
		t.Errorf("awaits %d to %d, idle %t, when the first was seen", first, last, idle)
	}
	p.update(func(b *state) { b.acknowledge(2 * time.Second) })
	if n := p.Result().Nodes[0]; n.Samples != 1 {
		t.Errorf("%d samples", n.Samples)
	}
}

func TestFormerPrimariesAreNamed(t *testing.T) {
	c := configured(t)
	c.Nodes = []wire.Node{{Name: "a"}, {Name: "b"}}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for i, writer := range []string{"a", "b", "a"} {
		p.update(func(b *state) { b.begin(uint64(i+1), engine.LagWriter{Identity: writer, Hostname: writer}, 0, true, 0) })
		got = append(got, p.FormerPrimaries())
	}
	if want := [][]string{nil, {"a"}, {"b"}}; !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// polled is what is found of a write that began an hour ago, and that was awaited since before.
func polled(t *testing.T, w *polls) wire.NodeLag {
	t.Helper()
	p := begun(t, true)
	if err := p.await(0, w, 1); err != nil {
		t.Fatal(err)
	}
	return p.Result().Nodes[0]
}

// begun has a write that began an hour ago and was acknowledged a minute after.
func begun(t *testing.T, polled bool) *Probe {
	t.Helper()
	p, err := New(configured(t))
	if err != nil {
		t.Fatal(err)
	}
	p.origin = p.origin.Add(-time.Hour)
	p.update(func(b *state) {
		b.tracks[0].identify(engine.LagWatched{Identity: "b", CommitOrder: true, Polled: polled})
		b.tracks[0].waiting = 1
		b.begin(1, engine.LagWriter{Identity: "a", Hostname: "a"}, 0, true, 0)
		b.acknowledge(time.Minute)
	})
	return p
}

func configured(t *testing.T) Config {
	t.Helper()
	c := configure(t, wire.Endpoint{Host: "a"})
	c.Nodes = []wire.Node{{Name: "b"}}
	return c
}
