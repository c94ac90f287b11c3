// Package agent decides for the members of a group: which of them takes the writes, and which may begin the group anew after its
// servers died. The start wrapper of each server and the agent beside it ask all others, and decide by the same pure rules.
package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"replab.dev/internal/wire"
)

// stableMilliseconds is for how long servers that are apart must have told the same until they are taken for stable: their library
// may still be making them primary, and they may still be applying what they have received.
const stableMilliseconds = 5000

// Act is what a member that is not in a primary component may do.
type Act int

// Acts.
const (
	Wait  Act = iota
	Join      // a primary component that there is
	Begin     // a primary component, of its own component where its server runs, else of itself alone
)

// Decision with its reason, for people.
type Decision struct {
	Act Act
	Why string
}

// Decide says what one of all members may do. It is told of each what it answered in one round, and of itself what it would answer.
//
// Two primary components never come to be. One is founded only when every member has said that it is in none, and then by one of them
// alone: the members' positions do not change while none is in a primary component, so all members see the same order. The
// servers' own library makes a component primary again only when more than half of the last primary one's members meet with their
// servers alive. Servers that are alive and have not met therefore keep everybody waiting; those that have met, and for a while have
// not become primary by it, never will without being told.
func Decide(self int, all []Standing) Decision {
	for _, s := range all {
		if s.Kind != Primary {
			continue
		}
		if outdated(s.View.Members, all) {
			return Decision{Wait, fmt.Sprintf("%s still counts servers that have died or left; it will lose its primary component once it notices", s.Name)}
		}
		return Decision{Join, s.Name + " is in a primary component"}
	}
	for _, s := range all {
		if s.Kind == Unknown {
			return Decision{Wait, fmt.Sprintf("the cluster does not start before every member has reported its position; %s has not: %s", s.Name, s.Why)}
		}
	}
	if why := histories(all); why != "" {
		return Decision{Wait, why}
	}
	if why := unstable(all); why != "" {
		return Decision{Wait, why}
	}
	first := 0
	for i := range all {
		if compare(all, i, first) < 0 {
			first = i
		}
	}
	if first == self {
		return Decision{Begin, fmt.Sprintf("no member is in a primary component, and none has come further than %s", describe(all[self].Position))}
	}
	return Decision{Wait, fmt.Sprintf("%s is to begin, with %s", all[first].Name, describe(all[first].Position))}
}

// outdated tells that so many servers of a primary component have died, or say themselves that they are in none, that it is none any more:
// joining it would wait in vain.
func outdated(members []string, all []Standing) bool {
	alive := len(members)
	for _, s := range all {
		if (s.NoServer || s.Kind == Apart) && slices.Contains(members, s.Name) {
			alive--
		}
	}
	return 2*alive <= len(members)
}

// histories tells of two lines of transactions, "" when there is one: which of two is further is unknown.
func histories(all []Standing) string {
	var one Standing
	for _, s := range all {
		switch {
		case s.Position.History == "":
		case one.Position.History == "":
			one = s
		case s.Position.History != one.Position.History:
			return fmt.Sprintf("%s has history %s and %s has %s: the cluster does not start before one of them has lost its data",
				one.Name, one.Position.History, s.Name, s.Position.History)
		}
	}
	return ""
}

// unstable tells of running servers that may become primary by themselves, or whose position still moves, "" when none may.
func unstable(all []Standing) string {
	var running, names []string
	for _, s := range all {
		if s.Kind == Apart {
			running, names = append(running, s.View.Server), append(names, s.Name)
		}
	}
	slices.Sort(running)
	for _, s := range all {
		if s.Kind != Apart {
			continue
		}
		switch {
		case !slices.Equal(slices.Sorted(slices.Values(s.View.Servers)), running):
			met := connected(s.View.Servers, all)
			return fmt.Sprintf("the servers of %v run; that of %s is connected with those of %v and with %d unknown ones: they may still meet",
				names, s.Name, met, len(s.View.Servers)-len(met))
		case s.View.StableMilliseconds < stableMilliseconds:
			return fmt.Sprintf("the server of %s has lost the others %d ms ago: it may still find them", s.Name, s.View.StableMilliseconds)
		}
	}
	return ""
}

// connected names the members whose servers, apart from a primary component, are among these.
func connected(servers []string, all []Standing) []string {
	var names []string
	for _, s := range all {
		if s.Kind == Apart && slices.Contains(servers, s.View.Server) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Standings of all members, of which one knows itself and has heard of the others.
func Standings(members []wire.Node, self int, own Standing, answers []Answer) []Standing {
	all := make([]Standing, len(members))
	for i, n := range members {
		all[i] = standing(n.Name, answers[i])
	}
	own.Name = members[self].Name
	all[self] = own
	return all
}

// Waiting is the standing of a member whose start wrapper decides.
func Waiting(position wire.GroupPosition) Standing {
	return Standing{Kind: Stopped, Position: position, NoServer: true}
}

// Running is the standing of a member whose server says this.
func Running(v wire.GroupView) Standing { return ofView("", v) }

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
