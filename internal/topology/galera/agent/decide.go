package agent

import (
	"fmt"
	"slices"

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
// alone: the members' positions do not change while none is in a primary component, so all who decide see the same order. The
// servers' own library makes a component primary again only when more than half of the last primary one's members meet with their
// servers alive. Servers that are alive and have not met therefore keep everybody waiting; those that have met, and for a while have
// not become primary by it, never will without being told.
func Decide(self int, all []Standing) Decision {
	for _, s := range all {
		if s.Kind != Primary {
			continue
		}
		if outdated(s.View.Members, all) {
			return Decision{Wait, fmt.Sprintf("%s counts servers that have died or lost it, and will be in no primary component once it has noticed", s.Name)}
		}
		return Decision{Join, s.Name + " is in a primary component"}
	}
	for _, s := range all {
		if s.Kind == Unknown {
			return Decision{Wait, fmt.Sprintf("nothing begins before every member has said how far it has come; %s has not: %s", s.Name, s.Why)}
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
// who joined it would wait in vain.
func outdated(members []string, all []Standing) bool {
	alive := len(members)
	for _, s := range all {
		if (s.NoServer || s.Kind == Apart) && slices.Contains(members, s.Name) {
			alive--
		}
	}
	return 2*alive <= len(members)
}

// histories tells of two lines of transactions, "" when there is but one: nobody can say which of them is further.
func histories(all []Standing) string {
	var one Standing
	for _, s := range all {
		switch {
		case s.Position.History == "":
		case one.Position.History == "":
			one = s
		case s.Position.History != one.Position.History:
			return fmt.Sprintf("%s holds the history %s and %s holds %s: nothing begins before one of the two has lost its data",
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
			return fmt.Sprintf("the servers of %v run, and that of %s is connected with those of %v and with %d that no member has now: they may still meet",
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
