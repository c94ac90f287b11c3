package audit

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// logged is an inspection with what the log had: commits of users and of probes.
func logged(users, probes int64, ids ...uint64) inspection {
	i := found(ids...)
	i.At = madeAt
	i.WAL = &wire.WALInspection{Commits: users + probes + 1, UserCommits: users, ProbeCommits: probes}
	return i
}

// behind is an inspection whose log went its own way at a point of a timeline.
func behind(timeline int64, fork string, of inspection) inspection {
	of.WAL.Timeline, of.WAL.Fork = timeline, fork
	return of
}

// TestCommitsInLogsAreStatedBesideTheRowsOfTheSameInspections, or none are: a sum that lacks one of them would contradict the rows.
func TestCommitsInLogsAreStatedBesideTheRowsOfTheSameInspections(t *testing.T) {
	primary, other := enginetest.Start(t, "primary"), enginetest.Start(t, "other")
	primary.Open()
	other.Open()
	primary.Exec(insert("1") + insert("2"))
	other.Exec(insert("1") + insert("9")) // which is no row of an inspection
	url := serveFile(t, writeLedger(t, 10))
	broken := logged(0, 0, 1, 7)
	broken.WAL = &wire.WALInspection{Error: "the fork is not in it"}
	unread := logged(1, 0)
	unread.Error, unread.WriteIDs, unread.ids = "the server did not start", nil, nil
	intact := inspection{wire.Inspection{Intact: true}, nil}
	for name, c := range map[string]struct {
		agent   *agentStub
		ghosts  string // of all, of the logs' inspections, commits of users and of probes
		unknown string
	}{
		"never read alone":                        {agentOf(t, fresh()), "1 no no no", ""},
		"started as it was":                       {agentOf(t, fresh(), intact, intact), "1 no no no", ""},
		"read, where logs are not":                {agentOf(t, fresh(), found(1, 7)), "2 no no no", ""},
		"read with its log":                       {agentOf(t, fresh(), logged(2, 5, 1, 7, 8), intact), "3 2 2 5", ""},
		"read twice, each with its log":           {agentOf(t, fresh(), behind(1, "0/20", logged(1, 5, 1, 7)), behind(2, "0/80", logged(2, 1, 1, 7, 8, 6))), "4 3 3 6", ""},
		"read again, since it was not taken back": {agentOf(t, fresh(), behind(1, "0/20", logged(1, 5, 1, 7)), behind(1, "0/20", logged(2, 5, 1, 7, 8)), behind(1, "0/20", logged(2, 5, 1, 7, 8))), "3 2 2 5", ""},
		"other commits than rows":                 {agentOf(t, fresh(), logged(5, 0, 1, 7)), "2 1 5 0", ""},
		"a log without its own commits":           {agentOf(t, fresh(), logged(0, 0, 1, 2)), "1 0 0 0", ""},
		"one log could not be read":               {agentOf(t, fresh(), logged(1, 0, 1, 6), broken), "3 no no no", "its log could not be read: the fork is not in it"},
		"one was not read":                        {agentOf(t, fresh(), logged(1, 0, 1, 6), found(1, 7)), "3 no no no", "the log of one of its starts was not read"},
		"rows that could not be read":             {agentOf(t, fresh(), unread, logged(1, 0, 1, 7)), "2 no no no", "its rows could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			node := auditNode(other, wire.RoleReader)
			node.Agent = c.agent.url()
			got := audit(t, config(t, url, auditNode(primary, wire.RoleWriter), node)).Nodes[1].Inspected
			if got == nil {
				t.Fatal("nothing of its inspections")
			}
			ghosts := fmt.Sprint(text(got.Ghosts), " ", text(got.LoggedGhosts), " ", text(got.GhostCommits), " ", text(got.ProbeGhostCommits))
			if stated := got.GhostCommits != nil; stated != (got.LoggedAt != nil) || stated && !got.LoggedAt.Equal(&madeAt) {
				t.Errorf("the first log was read at %v", got.LoggedAt)
			}
			if ghosts != c.ghosts || !strings.Contains(got.LogUnknown, c.unknown) || (c.unknown == "") != (got.LogUnknown == "") {
				t.Errorf("%s, and %q; want %s, and %q", ghosts, got.LogUnknown, c.ghosts, c.unknown)
			}
		})
	}

	silent := auditNode(other, wire.RoleReader) // the ids are not to be had, and so are no rows to hold commits against
	silent.Agent = agentOf(t, fresh(), logged(1, 0, 7)).lost().url()
	if got := audit(t, config(t, url, auditNode(primary, wire.RoleWriter), silent)).Nodes[1].Inspected; got == nil || got.GhostCommits != nil || got.LoggedGhosts != nil {
		t.Errorf("without ids: %+v", ptr.Deref(got, wire.InspectedNode{}))
	}
}
