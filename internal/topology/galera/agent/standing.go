// Package agent decides for the members of a group: which of them takes the writes, and which may begin the group anew after its
// servers died. The start wrapper of each server and the agent beside it ask all others, and decide by the same pure rules.
package agent

import (
	"cmp"
	"fmt"
	"time"

	"replab.dev/internal/wire"
)

// Kind is what a member is, as far as another one can tell.
type Kind int

// Kinds of members.
const (
	// Unknown says nothing: it may be in a primary component.
	Unknown Kind = iota
	// Stopped has no server. Its start wrapper waits, and tells how far its data have come.
	Stopped
	// Apart has a server that is in no primary component.
	Apart
	// Primary has a server in a primary component.
	Primary
)

// Standing is what is known of one member.
type Standing struct {
	Name     string
	Kind     Kind
	Position wire.GroupPosition
	View     wire.GroupView // of a server
	NoServer bool           // no process of a server exists
	Why      string         // nothing is known
}

// Answer is what a member's agent answered, or why it did not.
type Answer struct {
	State *wire.NodeState
	At    time.Time // of the answer
	Err   error
}

// standing of a member by what its agent says.
func standing(name string, h Answer) Standing {
	unknown := func(why string) Standing {
		return Standing{Name: name, NoServer: h.Err == nil && h.State != nil && h.State.ServerPID == 0, Why: why}
	}
	switch {
	case h.Err != nil:
		return unknown(h.Err.Error())
	case h.State == nil:
		return unknown("it was not asked")
	case h.State.Group == nil:
		return unknown("its agent says nothing of a group")
	}
	g := h.State.Group
	switch {
	case h.State.ServerPID > 0 && g.View == nil:
		return unknown("its server has not answered yet")
	case h.State.ServerPID > 0:
		return ofView(name, *g.View)
	case g.Start == nil:
		return unknown("its start wrapper does not know yet how far its data have come")
	case g.Start.Phase != wire.GroupGathering:
		return unknown("its server is being started")
	}
	return Standing{Name: name, Kind: Stopped, Position: g.Start.Position, NoServer: true}
}

// ofView is the standing of a member whose server answers.
func ofView(name string, v wire.GroupView) Standing {
	s := Standing{Name: name, Kind: Apart, Position: v.Position, View: v}
	switch {
	case v.Primary:
		s.Kind = Primary
	case v.Position.History == "":
		return Standing{Name: name, Why: "its server is not in the group yet"}
	}
	return s
}

// compare orders members by how far they have come; the first begins the group anew. Of equals one that runs is first, since nothing
// of it can get lost, and then the one with the lowest number.
func compare(all []Standing, a, b int) int {
	return cmp.Or(
		cmp.Compare(rank(all[b].Position), rank(all[a].Position)),
		cmp.Compare(all[b].Kind, all[a].Kind), // Apart is above Stopped
		cmp.Compare(a, b),
	)
}

// rank orders positions of one history: data that never belonged to a group come last.
func rank(p wire.GroupPosition) int64 {
	if p.History == "" {
		return -1
	}
	return p.Sequence
}

func describe(p wire.GroupPosition) string {
	if p.History == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s:%d", p.History, p.Sequence)
}
