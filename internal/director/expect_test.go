package director

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/internal/wire"
)

// returnWithGhosts starts an old primary again and expects it to be kept apart with its ghosts counted.
func (l *lab) returnWithGhosts(d *Director, old, heir *testNode) {
	l.t.Helper()
	old.run()
	state := l.await(d, "ghosts counted", func(s wire.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if n := entry(state, old); n.Role != wire.RoleIsolated {
		l.t.Errorf("%s is %s", old.name, n.Role)
	} else if want := old.ghosts(heir); l.engine.SubtractSQL != "" && *n.GhostTransactions != want {
		l.t.Errorf("%s has %d ghosts, the server counts %d", old.name, *n.GhostTransactions, want)
	}
	if old.one(l.engine.ClosedSQL) != "1" || old.one(l.engine.SourceSQL) != "0" {
		l.t.Errorf("%s is not kept apart", old.name)
	}
}

// rejoin asks for a node to be rebuilt and expects it to be a replica with the primary's rows.
func (l *lab) rejoin(d *Director, n, primary *testNode) {
	l.t.Helper()
	if err := d.Rejoin(l.t.Context(), n.name); err != nil {
		l.t.Fatal(err)
	}
	l.eventually("the server ends after the clone", func() bool { return !n.running() }, func() string { return document(d.State()) })
	n.run()
	state := l.await(d, "a rebuilt node", func(s wire.DirectorState) bool {
		return entry(s, n).Rejoin == wire.RejoinDone && entry(s, n).CaughtUp
	})
	if role := entry(state, n).Role; role != wire.RoleReader {
		l.t.Errorf("%s is %s", n.name, role)
	}
	state = l.await(d, "its absence is over", func(s wire.DirectorState) bool { return len(s.Absences) > 0 && openAbsence(&s, n.name) == nil })
	a := lastAbsence(state, n.name)
	if r := a.Resync; r == nil || ptr.Deref(r.DurationMilliseconds, 0) <= 0 || ptr.Deref(r.ReceivedBytes, 0) < 1<<20 {
		l.t.Errorf("%s was rebuilt, and its absence says %s", n.name, document(state))
	}
	primary.mysql.Exec("INSERT INTO social.probe_writes VALUES (1000000, 'after')")
	for _, other := range l.nodes {
		if other != primary && other.running() {
			other.mysql.CatchUp(primary.mysql)
		}
		if other.running() && other.rows() != primary.rows() {
			l.t.Errorf("%s has %s, the primary %s", other.name, other.rows(), primary.rows())
		}
	}
}

func lastAbsence(s wire.DirectorState, node string) (last wire.DirectedAbsence) {
	for _, a := range s.Absences {
		if a.Node == node {
			last = a
		}
	}
	return last
}

func (l *lab) node(name string) *testNode {
	for _, n := range l.nodes {
		if n.name == name {
			return n
		}
	}
	l.t.Fatalf("no node %q", name)
	return nil
}

func entry(s wire.DirectorState, n *testNode) wire.NodeView {
	for _, e := range s.Nodes {
		if e.Name == n.name {
			return e
		}
	}
	return wire.NodeView{}
}

// ghosts counts with the server's own algebra, through the sum of the intervals' lengths.
func (n *testNode) ghosts(primary *testNode) int64 {
	n.t.Helper()
	if n.mysql.Flavor.SubtractSQL == "" {
		return 0 // it has no such algebra
	}
	set := primary.one(n.mysql.Flavor.SubtractSQL, n.one(n.mysql.Flavor.ExecutedSQL))
	var count int64
	for _, part := range strings.Split(strings.ReplaceAll(set, "\n", ""), ",") {
		for _, interval := range strings.Split(part, ":")[1:] {
			var first, last int64
			if k, _ := fmt.Sscanf(interval, "%d-%d", &first, &last); k == 1 {
				last = first
			}
			count += last - first + 1
		}
	}
	return count
}

func checkMoments(t *testing.T, f wire.DirectedFailover) {
	t.Helper()
	if f.ChosenAt == nil || f.FencedAt == nil || f.AppliedAt == nil || f.PromotedAt == nil || f.RepointedAt == nil {
		t.Fatalf("moments are missing: %+v", f)
	}
	moments := []time.Time{f.FirstFailureAt.Time, f.DetectedAt.Time, f.ChosenAt.Time, f.FencedAt.Time, f.AppliedAt.Time, f.PromotedAt.Time, f.RepointedAt.Time}
	for i := 1; i < len(moments); i++ {
		if moments[i].Before(moments[i-1]) {
			t.Errorf("moment %d is before the one before it: %v", i, moments)
		}
	}
	if f.Unapplied != 0 {
		t.Errorf("not everything was applied: %s", f.Message)
	}
}
