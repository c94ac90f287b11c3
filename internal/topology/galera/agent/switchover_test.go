package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/wire"
)

// fakeServer is in one primary component with all others.
type fakeServer struct{ look Look }

func (*fakeServer) Run(context.Context) {}

func (f *fakeServer) Look() (Look, error) { return f.look, nil }

// company are the agents of a group whose servers are well.
type company struct {
	t       *testing.T
	members []*Member
	dirs    []string
}

func newCompany(t *testing.T) *company {
	c := &company{t: t, members: make([]*Member, 3), dirs: []string{t.TempDir(), t.TempDir(), t.TempDir()}}
	for i := range c.members {
		c.begin(i)
	}
	c.talk(0, 1, 2)
	return c
}

// begin starts an agent, or starts it anew.
func (c *company) begin(i int) {
	c.t.Helper()
	server := &fakeServer{Look{View: primary(9, "m0", "m1", "m2")}}
	var err error
	if c.members[i], err = NewMember(wire.GroupConfig{Members: nodes(3)}, fmt.Sprintf("m%d", i), c.dirs[i], c.dirs[i], server, nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *company) told(i int) wire.GroupState {
	c.t.Helper()
	s, err := c.members[i].State()
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// talk has these hear all others, a few times.
func (c *company) talk(these ...int) { c.talkAt(time.Now(), these...) }

func (c *company) talkAt(now time.Time, these ...int) {
	c.t.Helper()
	for range 3 {
		for _, i := range these {
			for o := range c.members {
				if s := c.told(o); o != i {
					c.members[i].peers.note(o, Answer{State: &wire.NodeState{ServerPID: 1, Group: &s}}, now)
				}
			}
			if err := c.members[i].think(now); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

func (c *company) assertWriter(want int) {
	c.t.Helper()
	for i, m := range c.members {
		if writes, why := m.Writes(); writes != (i == want) {
			c.t.Errorf("m%d takes the writes: %t (%s); m%d is to", i, writes, why, want)
		}
	}
}

func (c *company) switchOver(i int, name string) {
	c.t.Helper()
	if err := c.members[i].SwitchOver(name); err != nil {
		c.t.Fatal(err)
	}
}

func TestASwitchoverIsDoneOnce(t *testing.T) {
	c := newCompany(t)
	c.assertWriter(0)
	c.switchOver(0, "planned")
	c.talk(0, 1, 2)
	c.assertWriter(1)
	done := c.told(0).Switchovers
	if len(done) != 1 || done[0].Outcome != wire.SwitchoverDone || done[0].To != "m1" || done[0].EndedAt == nil {
		t.Fatalf("told of %+v", done)
	}
	terms := c.told(1).Terms
	if len(terms) != 1 || terms[0].Switchover != "planned" || terms[0].After != "m0" || terms[0].From.Before(terms[0].NoticedAt) ||
		terms[0].NoticedAt.Sub(done[0].RequestedAt.Time).Abs() > time.Second {
		t.Errorf("terms of who took over: %+v; it was asked for at %s", terms, done[0].RequestedAt)
	}
	c.begin(0) // anew, and asked again
	c.switchOver(0, "planned")
	c.talk(0, 1, 2)
	c.assertWriter(1)
	if again := c.told(0); len(again.Switchovers) != 1 || again.Resigned != 1 {
		t.Errorf("asked again it did it again: %+v", again)
	}
}

// TestTheWritesGoRound: who gave them up first is the first to get them back.
func TestTheWritesGoRound(t *testing.T) {
	c := newCompany(t)
	for i, next := range []int{1, 2, 0, 1} {
		c.switchOver([]int{0, 1, 2, 0}[i], fmt.Sprint("planned ", i))
		c.talk(0, 1, 2)
		c.assertWriter(next)
	}
	if s := c.told(0).Switchovers; len(s) != 2 || s[1].Outcome != wire.SwitchoverDone || s[1].To != "m1" {
		t.Errorf("told of %+v", s)
	}
}

func TestASwitchoverThatCannotBeIsRefused(t *testing.T) {
	c := newCompany(t)
	if err := c.members[1].SwitchOver("of another"); !errors.Is(err, history.ErrRefused) {
		t.Errorf("one that does not take the writes: %v", err)
	}
	c.switchOver(0, "first")
	if err := c.members[0].SwitchOver("second"); !errors.Is(err, history.ErrRefused) {
		t.Errorf("while another is under way: %v", err)
	}
	c = newCompany(t)
	c.begin(0)
	if err := c.members[0].think(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := c.members[0].SwitchOver("alone"); !errors.Is(err, history.ErrRefused) || c.told(0).Resigned != 0 {
		t.Errorf("no other member answered: %v, resigned %d", err, c.told(0).Resigned)
	}
}

// TestASwitchoverThatNobodyFollowsIsTakenBack: the others do not hear of it.
func TestASwitchoverThatNobodyFollowsIsTakenBack(t *testing.T) {
	c := newCompany(t)
	c.switchOver(0, "planned")
	c.talk(0)
	if writes, _ := c.members[0].Writes(); writes {
		t.Error("it takes writes while another is to")
	}
	if s := c.told(0).Switchovers[0]; s.Outcome != "" {
		t.Errorf("it has come to an end at once: %+v", s)
	}
	c.talkAt(time.Now().Add(switchoverMost), 0)
	s := c.told(0)
	if s.Switchovers[0].Outcome != wire.SwitchoverFailed || s.Switchovers[0].Why == "" || s.Resigned != 0 || !s.Writes {
		t.Errorf("told %+v", s)
	}
	if len(s.Terms) != 2 || s.Terms[1].Switchover != "" {
		t.Errorf("terms %+v, want two, the second of which nobody asked for", s.Terms)
	}
}
