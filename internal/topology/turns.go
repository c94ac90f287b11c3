package topology

import (
	"slices"

	"replab.dev/internal/wire"
)

// Testimony is what one node tells of who takes the writes, where each tells of itself.
type Testimony struct {
	Node string
	// Answered is false of a silent node: it tells nothing else then.
	Answered bool
	// Leader is the node that has the writes, as this one knows at the moment; "" for none, and where it does not know.
	Leader string
	// Terms of this node as the writer, in their order.
	Terms []wire.WriterTerm
	// Switchovers that this node was asked for, in their order.
	Switchovers []wire.Switchover
}

// Silent are the nodes that did not answer.
func Silent(all []Testimony) []string {
	var found []string
	for _, a := range all {
		if !a.Answered {
			found = append(found, a.Node)
		}
	}
	return found
}

// LastWriter is the node that had the writes last, of which none is seen to take them: "" where nobody can tell. It is the one that all name
// who name any. Where none is named it is the last by what every node tells of its terms: one that is silent may have had them since.
func LastWriter(all []Testimony) string {
	last := named(all)
	if len(last) == 0 && len(Silent(all)) == 0 {
		last = lastInTurn(all)
	}
	if len(last) != 1 || !slices.ContainsFunc(all, func(a Testimony) bool { return a.Node == last[0] }) {
		return ""
	}
	return last[0]
}

func named(all []Testimony) []string {
	var found []string
	for _, a := range all {
		if a.Leader != "" && !slices.Contains(found, a.Leader) {
			found = append(found, a.Leader)
		}
	}
	return found
}

// lastInTurn are the nodes that had more turns than others came after. Nodes have clocks of their own, so that not the times of terms tell
// their order, but whom each says to have come after: each turn but the last one of all ended with one of another node. There is none where
// one of them does not know whom it came after.
func lastInTurn(all []Testimony) []string {
	var found []string
	for _, a := range all {
		turns := 0
		for i, t := range a.Terms {
			switch {
			case t.After == "" && i > 0:
				return nil
			case t.After != a.Node: // else its server took its place again
				turns++
			}
		}
		if turns > followed(all, a.Node) {
			found = append(found, a.Node)
		}
	}
	return found
}

// followed is how often other nodes came after one.
func followed(all []Testimony, node string) int {
	times := 0
	for _, next := range all {
		for _, t := range next.Terms {
			if next.Node != node && t.After == node {
				times++
			}
		}
	}
	return times
}
