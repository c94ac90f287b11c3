package agent

import (
	"cmp"
	"slices"

	"replab.dev/internal/wire"
)

// passing is for how long after a change of members the agents' views of it may differ.
const passingMilliseconds = 1000

// candidate is a member of the primary component that might take the writes.
type candidate struct {
	ordinal int
	state   *wire.GroupState
}

// Writer returns which of all members takes the writes as one of them sees it, -1 for none. It is told what it knows of itself, and of the
// others what they answered not long ago: one that has not answered, or that is not in its component, is passed over. So a part of the group
// that is in no primary component has no writer.
//
// It is the lowest number of those that are synced. Those that have resigned come after all of them, who did so last the very last, and one that
// serves without being synced, since it hands its data to another, only when there is no other.
//
// A member takes over from a writer before that its server still counts, -1 for none, only while most of those that it counts answer. Else it
// may well be itself that is cut off: its server believes in the others for as long as the group suspects nobody.
func Writer(members []wire.Node, self, before int, own *wire.GroupState, answers []Answer) int {
	if own.View == nil || !own.View.Primary || !own.View.Serves {
		return -1
	}
	candidates := []candidate{{self, own}}
	for i := range members {
		if g := answers[i].group(); i != self && g != nil && together(members[i].Name, *own.View, g.View) {
			candidates = append(candidates, candidate{i, g})
		}
	}
	first := slices.MinFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.behind(), b.behind()), cmp.Compare(a.state.Resigned, b.state.Resigned), cmp.Compare(a.ordinal, b.ordinal))
	}).ordinal
	counted := before >= 0 && before != self && slices.Contains(own.View.Members, members[before].Name)
	if first == self && counted && !amongMost(members, self, own.View, answers) {
		return before
	}
	return first
}

// amongMost tells whether most of the members that a server counts answer, itself among them.
func amongMost(members []wire.Node, self int, own *wire.GroupView, answers []Answer) bool {
	answer := 0
	for i, n := range members {
		if slices.Contains(own.Members, n.Name) && (i == self || answers[i].Err == nil && answers[i].State != nil) {
			answer++
		}
	}
	return 2*answer > len(own.Members)
}

// group is what a member's agent says of it, nil when it has not answered, or its server has not.
func (h Answer) group() *wire.GroupState {
	if h.Err != nil || h.State == nil || h.State.ServerPID == 0 || h.State.Group == nil || h.State.Group.View == nil {
		return nil
	}
	return h.State.Group
}

// together tells whether two members are in one primary component. Agents learn of a change at different moments: until it has passed
// their components may differ.
func together(name string, own wire.GroupView, other *wire.GroupView) bool {
	if !other.Primary || !other.Serves || own.Position.History != other.Position.History {
		return false
	}
	passing := min(own.StableMilliseconds, other.StableMilliseconds) < passingMilliseconds
	return own.Component == other.Component || passing && slices.Contains(own.Members, name)
}

func (c candidate) behind() int {
	if c.state.View.Synced {
		return 0
	}
	return 1
}
