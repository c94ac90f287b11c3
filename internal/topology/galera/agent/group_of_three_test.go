package agent_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// roundsVariable says how often all members die in TestAGroupOfThree.
const roundsVariable = "REPLAB_GALERA_ROUNDS"

// TestAGroupOfThree has its writes given to another member, and then all members die at the same moment, under writes: one group comes back,
// with every write that was acknowledged, no member held one that the group does not hold, and all end with the same rows.
func TestAGroupOfThree(t *testing.T) {
	rounds := 1
	if text := os.Getenv(roundsVariable); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		must(t, err)
	}
	tr := newTrio(t, engine.Full)
	w := newWriters(tr, 4)
	w.awaitMore(200)
	switchOver(t, tr, w)
	awayAndBack(t, tr, w)
	for round := range rounds {
		w.awaitMore(200)
		assertNothingPrepared(t, tr)
		allDie(t, tr, w, round+1)
	}
}

// assertNothingPrepared: a member's transactions are committed or not, and no recovery has to choose. Otherwise a server that is
// started to be inspected, which is no member then, might choose otherwise than a member would.
func assertNothingPrepared(t *testing.T, tr *trio) {
	t.Helper()
	for _, m := range tr.members {
		var name string
		var commits, prepared int
		must(t, m.db.QueryRow("SHOW GLOBAL STATUS LIKE 'Handler_commit'").Scan(&name, &commits))
		must(t, m.db.QueryRow("SHOW GLOBAL STATUS LIKE 'Handler_prepare'").Scan(&name, &prepared))
		if commits < 200 || prepared > 0 {
			t.Errorf("%s has prepared %d transactions, and committed %d", m.Name, prepared, commits)
		}
	}
}

// switchOver asks the member that takes the writes to give them to another one.
func switchOver(t *testing.T, tr *trio, w *writers) {
	t.Helper()
	old := tr.awaitWriter()
	body, err := json.Marshal(wire.SwitchoverRequest{Name: "planned", From: old.Name})
	must(t, err)
	for range 2 { // asked again it changes nothing
		_, err = httpclient.Do(t.Context(), tr.http, httpclient.Request{Method: http.MethodPost, URL: client.URL(old.Host) + wire.AgentPathSwitchover, Token: token, Body: body})
		must(t, err)
	}
	tr.await("another member takes the writes", time.Minute, func() bool {
		s := tr.group(old).Switchovers
		return len(s) == 1 && s[0].Outcome == wire.SwitchoverDone
	})
	w.awaitMore(200)
	now := tr.awaitWriter()
	if s := tr.group(old).Switchovers[0]; now == old || now.Name != s.To {
		t.Errorf("%+v, and now %+v takes the writes", s, now)
	}
	w.pause()
	defer w.resume()
	tr.awaitRest()
	held := tr.held(old)
	if gone := missing(w.acknowledgedIDs(), held); len(gone) > 0 {
		t.Errorf("a planned change has lost %d writes", len(gone))
	}
}

// awayAndBack stops a member until the others have gone on without it, and lets it run on: it fetches what it has missed.
func awayAndBack(t *testing.T, tr *trio, w *writers) {
	t.Helper()
	writer := tr.awaitWriter()
	i := slices.IndexFunc(tr.members, func(m *trioMember) bool { return m != writer })
	m, others := tr.members[i], slices.Delete(slices.Clone(tr.members), i, i+1)
	pid := tr.pid(m)
	must(t, syscall.Kill(pid, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	tr.await("the others go on without it", time.Minute, func() bool {
		g := tr.state(others[0]).Group
		return g != nil && g.View != nil && g.View.Primary && len(g.View.Members) == len(others)
	})
	w.awaitMore(200)
	must(t, syscall.Kill(pid, syscall.SIGCONT))
	tr.awaitWhole()
	var away wire.Absence
	tr.await("its absence is over", time.Minute, func() bool {
		all := tr.group(m).Absences
		if len(all) > 0 {
			away = all[len(all)-1]
		}
		return away.BackAt != nil
	})
	if got := away.Resync; got == nil || got.Method != v1alpha1.ResyncIST || got.DurationMilliseconds == nil || got.NetworkReceivedBytes == nil {
		t.Errorf("%s came back by the transfer %+v, want one of what it had missed", m.Name, got)
	}
}

// allDie kills all members, and starts them as the kubelet would.
func allDie(t *testing.T, tr *trio, w *writers, round int) {
	t.Helper()
	at := tr.kill(tr.members...)
	dead := time.Now()
	acknowledged := w.count()
	for _, m := range tr.members {
		m.startWrapper(t)
	}
	tr.await("writes are acknowledged again", 3*time.Minute, func() bool { return !w.firstAfter(dead).IsZero() })
	tr.awaitWhole()
	whole := time.Since(at)
	w.pause()
	defer w.resume()
	tr.awaitRest()
	lost := assertOneGroup(t, tr, w.acknowledgedIDs())
	t.Logf("round %d: %d acknowledged by then, %d lost; written to again after %d ms, all members in step after %d ms",
		round, acknowledged, lost, w.firstAfter(dead).Sub(at).Milliseconds(), whole.Milliseconds())
}

// assertOneGroup compares the members with each other and with what was acknowledged, of which it returns how many are lost.
func assertOneGroup(t *testing.T, tr *trio, acknowledged []uint64) (lost int) {
	t.Helper()
	first := tr.held(tr.members[0])
	if gone := missing(acknowledged, first); len(gone) > 0 {
		lost = len(gone)
		t.Errorf("%d acknowledged writes are lost: %v", lost, gone[:min(lost, 20)])
	}
	for _, m := range tr.members {
		if held := tr.held(m); !slices.Equal(held, first) {
			t.Errorf("%s holds %d writes, %s %d, and they are not the same", m.Name, len(held), tr.members[0].Name, len(first))
		}
		list, found := tr.inspections(m)
		for _, i := range list.Inspections {
			if i.Error != "" {
				t.Errorf("%s could not be inspected: %+v; its wrappers wrote:\n%s\n%s", m.Name, i, m.before.Output(t), m.wrapper.Output(t))
			}
		}
		var group ledger.Bitmap
		for _, id := range first {
			group.Add(id)
		}
		if ghosts := ledger.AndNot(found, group); ghosts.Count() > 0 {
			t.Errorf("%s held %d writes that the group does not hold: %v", m.Name, ghosts.Count(), ghosts.First(20))
		}
	}
	return lost
}
