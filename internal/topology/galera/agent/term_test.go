package agent

import (
	"context"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// fixedServer tells always the same.
type fixedServer struct{ view wire.GroupView }

func (fixedServer) Run(context.Context) {}

func (f fixedServer) Look() (Look, error) { return Look{View: f.view, Asked: time.Now()}, nil }

// TestAMemberTellsWhetherTheGroupStillCountedTheWriterBefore it: where it did, a commit may have had to wait for that one.
func TestAMemberTellsWhetherTheGroupStillCountedTheWriterBefore(t *testing.T) {
	for want, after := range map[bool]wire.GroupView{true: primary(9, "m0", "m1"), false: primary(9, "m1")} {
		m, err := NewMember(wire.GroupConfig{Members: nodes(2)}, "m1", t.TempDir(), t.TempDir(), fixedServer{primary(9, "m0", "m1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		m.peers.note(0, runs(primary(9, "m0", "m1")), now)
		if err := m.think(now); err != nil {
			t.Fatal(err)
		}
		m.server = fixedServer{after}
		later := now.Add(2 * freshness)
		m.peers.note(0, Answer{State: &wire.NodeState{Group: &wire.GroupState{}}}, later) // its agent alone answers
		if err := m.think(later); err != nil {
			t.Fatal(err)
		}
		state, err := m.State()
		if err != nil || len(state.Terms) != 1 || state.Terms[0].After != "m0" || state.Terms[0].AfterCounts != want {
			t.Errorf("%v: %+v, %v", want, state.Terms, err)
		}
	}
}

// TestWithWritesToAllEveryMemberInStepTakesThem, and reads, and there are no terms.
func TestWithWritesToAllEveryMemberInStepTakesThem(t *testing.T) {
	behind, apart := primary(9, "m0", "m1"), primary(9, "m0", "m1")
	behind.Synced, apart.Primary = false, false
	for name, c := range map[string]struct {
		view wire.GroupView
		want bool
	}{
		"in step":                         {primary(9, "m0", "m1"), true},
		"not in step":                     {behind, false},
		"apart from the group's majority": {apart, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewMember(wire.GroupConfig{Members: nodes(2), WriteAll: true}, "m1", t.TempDir(), t.TempDir(), fixedServer{c.view}, nil)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			m.peers.note(0, runs(primary(9, "m0", "m1")), now)
			if err := m.think(now); err != nil {
				t.Fatal(err)
			}
			writes, _ := m.Writes()
			reads, _ := m.Reads()
			state, err := m.State()
			if err != nil || writes != c.want || reads != c.want || len(state.Terms) != 0 {
				t.Errorf("writes %v, reads %v, terms %+v, %v", writes, reads, state.Terms, err)
			}
		})
	}
}
