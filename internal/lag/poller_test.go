package lag

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// polling sees a write with its second look.
type polling struct {
	Watcher
	unseen time.Time
}

func (p *polling) Wait(uint64, time.Duration) (bool, error) {
	p.unseen = time.Now()
	return true, nil
}

func (p *polling) Unseen() time.Time { return p.unseen }

func TestWhatAPollDidNotSeeNarrowsTheBracket(t *testing.T) {
	c := configure(t, wire.Endpoint{Host: "a"})
	c.Nodes = []wire.Node{{Name: "b"}}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.origin = p.origin.Add(-time.Hour) // the write began then
	p.update(func(b *book) {
		b.begin(1, engine.LagWriter{Identity: "a", Hostname: "a"}, 0, true, 0)
		b.acknowledge(time.Minute)
	})
	if err := p.await(0, &polling{}, 1); err != nil {
		t.Fatal(err)
	}
	if n := p.Result().Nodes[0]; n.Samples != 1 || *n.BracketP50Microseconds > time.Minute.Microseconds() || n.Censored != 0 {
		t.Errorf("%d samples, %d censored, bracket %d µs", n.Samples, n.Censored, *n.BracketP50Microseconds)
	}
}
