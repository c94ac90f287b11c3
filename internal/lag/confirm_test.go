package lag

import (
	"context"
	"errors"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// foreseeing is a server that names the writes of its sessions; the first one's got another's name.
type foreseeing struct{ sessions int }

func (f *foreseeing) OpenWriter(context.Context) (Writer, error) {
	f.sessions++
	return &session{right: f.sessions > 1}, nil
}

func (f *foreseeing) OpenWatcher(context.Context, string) (Watcher, error) {
	return nil, errors.New("there is no node")
}

type session struct{ right bool }

func (s *session) Server() engine.LagWriter                     { return engine.LagWriter{Identity: "1", Hostname: "a"} }
func (s *session) Missing(uint64, uint64) (engine.Spans, error) { return nil, nil }
func (s *session) Write(uint64, uint64, int) error              { return nil }
func (s *session) Close() error                                 { return nil }

func (s *session) Confirm(uint64) error {
	if !s.right {
		return errors.New("another one came before it")
	}
	return nil
}

// TestAWriteThatDoesNotHaveItsNameIsNotAwaited: what nodes show under the name is another one.
func TestAWriteThatDoesNotHaveItsNameIsNotAwaited(t *testing.T) {
	server := &foreseeing{}
	c := configure(t, wire.Endpoint{Host: "a"})
	c.Open, c.Nodes, c.Interval = func(engine.LagTarget) Engine { return server }, []wire.Node{{Name: "b"}}, time.Millisecond
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	w := writing{probe: p}
	for range 3 {
		w.tried = 0
		if !w.once(t.Context()) {
			t.Fatal("no write was begun")
		}
	}
	if r := p.Result(); r.Discarded != 1 || r.Acknowledged != 2 || r.Unseen != 2 || server.sessions != 2 {
		t.Errorf("%d sessions: %s", server.sessions, describe(r))
	}
}
