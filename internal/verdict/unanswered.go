package verdict

import (
	"slices"
	"strings"
)

// unansweredAmong says which of some nodes did not answer when the run was judged, "" where all did: what they alone know is in no account of the
// topology, so that nothing follows from it that it does not tell.
func unansweredAmong(e Evidence, nodes ...string) string {
	silent := slices.DeleteFunc(slices.Clone(e.State.Silent), func(n string) bool { return !slices.Contains(nodes, n) })
	switch len(silent) {
	case 0:
		return ""
	case 1:
		return "node " + silent[0] + " did not answer when the run was judged"
	}
	return "nodes " + strings.Join(silent, ", ") + " did not answer when the run was judged"
}
