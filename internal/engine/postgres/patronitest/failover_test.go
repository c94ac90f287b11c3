package patronitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/wire"
)

// slowCopies has the node become a copy instead of being rewound, which waits until release is called.
func slowCopies(t *testing.T, n *patronitest.Node) (release func()) {
	t.Helper()
	n.Replace("pg_rewind", "#!/bin/sh\ncase $1 in --help|--version) exit 0;; esac\nexit 1\n")
	sign := filepath.Join(n.RunDir, "may-copy")
	n.Replace("pg_basebackup", fmt.Sprintf("#!/bin/sh\nuntil [ -e %s ]; do sleep 0.1; done\nexec /usr/lib/postgresql/17/bin/pg_basebackup \"$@\"\n", sign))
	script, err := os.ReadFile(filepath.Join(n.RunDir, "manager"))
	must(t, err)
	n.Replace("manager", strings.Replace(string(script), "exec patroni", fmt.Sprintf("PATH=%s:$PATH exec patroni", n.RunDir), 1))
	return func() { must(t, os.WriteFile(sign, nil, 0o644)) }
}

// TestTheAgentKeepsAFailoverAndACopy kills the leader until another one has taken its place.
func TestTheAgentKeepsAFailoverAndACopy(t *testing.T) {
	nodes := patronitest.Start(t, 2, engine.Settings{
		Durability: engine.Relaxed, Parameters: map[string]string{"shared_buffers": "32MB", "max_connections": "50"},
		Manager: &engine.Manager{
			Synchronous: engine.SyncOff, TTL: 30 * time.Second, LoopWait: time.Second, RetryTimeout: 10 * time.Second,
			PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 1 << 20,
		},
	})
	first, second := nodes[0], nodes[1]
	a, b := agentOf(t, first, 0), agentOf(t, second, 0)
	await(t, "both are in their places", func() bool { return a.State().Writes && b.State().Streaming && b.State().Leader == first.Name })
	release := slowCopies(t, first)

	first.Kill()
	await(t, "the second takes the writes", func() bool { return b.State().Writes })
	term := b.State().Terms[0]
	if term.After != first.Name || term.NoticedAt == nil || term.NoticedAt.After(term.From.Time) {
		t.Errorf("its term is %+v", term)
	}
	first.Run()
	away := func() wire.Absence {
		all := a.State().Absences
		if len(all) == 0 {
			return wire.Absence{}
		}
		return all[len(all)-1]
	}
	await(t, "the first becomes a copy", func() bool { return away().Resync != nil })
	if got := away(); got.BackAt != nil || a.State().Streaming {
		t.Errorf("while it is copied it is away by %+v", got)
	}
	release()
	await(t, "it is back", func() bool { return away().BackAt != nil })
	s, got := a.State(), away()
	if len(s.Terms) != 1 || s.Terms[0].To == nil || s.Timeline != b.State().Timeline || s.Leader != second.Name {
		t.Errorf("then it is told as %+v", s)
	}
	// A server that is killed may be seen not to answer, by which it is away, before it is seen to be gone, by which its term ends.
	if got.LeftAt.Before(&s.Terms[0].From) || s.Terms[0].To.Before(&got.LeftAt) {
		t.Errorf("it was away from %s, and its term was %+v", got.LeftAt, s.Terms[0])
	}
	if got.Resync.Method != v1alpha1.ResyncBackup || ptr.Deref(got.Resync.DurationMilliseconds, 1) <= 0 {
		t.Errorf("it was made a copy by %+v", got.Resync)
	}
}
