package audit

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// logs are what a node's log had at its inspections that others did not have, all of them together.
type logs struct {
	behind       map[fork]commits
	read, unread bool // a log was; an inspection has none
	first        *metav1.MicroTime
	unknown      string
}

// fork is the point of a timeline behind which a node's log is its own. A node is on a timeline once, so that a log that is read again behind
// the same point, since the node was not rewound after all, has the same commits, and perhaps more.
type fork struct {
	timeline int64
	position string
}

type commits struct{ users, probes int64 }

// add takes an inspection at which the node had data. The rows of one that could not be read are not known, so its commits are nothing to
// hold them against.
func (l *logs) add(found wire.Inspection) {
	switch {
	case found.WAL == nil:
		l.unread = true
	case found.Error != "":
		l.read, l.unknown = true, fmt.Sprintf("when it was started at %s its rows could not be read", at(found))
	case found.WAL.Error != "":
		l.read, l.unknown = true, fmt.Sprintf("when it was started at %s its log could not be read: %s", at(found), found.WAL.Error)
	default:
		l.read = true
		if l.first == nil {
			l.first = &found.At
		}
		if l.behind == nil {
			l.behind = map[fork]commits{}
		}
		point := fork{found.WAL.Timeline, found.WAL.Fork}
		l.behind[point] = commits{max(l.behind[point].users, found.WAL.UserCommits), max(l.behind[point].probes, found.WAL.ProbeCommits)}
	}
}

// state writes the commits beside the rows that the inspections found, where both are of the same inspections.
func (l *logs) state(into *wire.InspectedNode, rows *int64) {
	switch {
	case !l.read: // nobody reads logs there
	case l.unknown != "":
		into.LogUnknown = l.unknown
	case l.unread:
		into.LogUnknown = "the log of one of its starts was not read"
	default:
		users, probes := l.sum()
		into.LoggedGhosts, into.GhostCommits, into.ProbeGhostCommits, into.LoggedAt = rows, &users, &probes, l.first
	}
}

func (l *logs) sum() (users, probes int64) {
	for _, c := range l.behind {
		users, probes = users+c.users, probes+c.probes
	}
	return users, probes
}
