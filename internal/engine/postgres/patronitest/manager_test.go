package patronitest_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/engine/postgres/postgrestest"
	manager "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// agentOf is what a node's agent knows of its server and of Patroni.
func agentOf(t *testing.T, n *patronitest.Node, pauseAt int) *manager.Member {
	t.Helper()
	server := postgres.Server{}
	client, err := server.Client(postgres.Socket(n.RunDir, postgres.Port), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"postgres", "-D", n.DataDir}
	watcher := manager.NewWatcher(proc.NewFinder(argv[0], func(process []string) bool { return server.IsServer(argv, process) }), client.(engine.Positioned))
	patroni := server.ManagerClient("http://"+net.JoinHostPort(n.Address, "8008"), postgrestest.Password)
	m, err := manager.New(wire.ManagerConfig{PauseAt: pauseAt}, n.Name, t.TempDir(), n.RunDir, watcher, patroni)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { watcher.Run(ctx) })
	loops.Go(func() { m.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		loops.Wait()
		_ = client.Close()
	})
	return m
}

// TestTheAgentKeepsWhatPatroniDoes follows two nodes through a planned change of their writer, and the death of one that takes its place again.
func TestTheAgentKeepsWhatPatroniDoes(t *testing.T) {
	nodes := patronitest.Start(t, 2, engine.Settings{
		Durability: engine.Relaxed, Parameters: map[string]string{"shared_buffers": "32MB", "max_connections": "50"},
		Manager: &engine.Manager{ // nobody takes a lock of one that is only slow
			Synchronous: engine.SyncQuorum, NodeCount: 1, TTL: time.Minute, LoopWait: time.Second, RetryTimeout: 10 * time.Second,
			PrimaryStartTimeout: 5 * time.Minute, MaxLagBytes: 1 << 20,
		},
	})
	first, second := nodes[0], nodes[1]
	a, b := agentOf(t, first, 0), agentOf(t, second, 0)
	await(t, "both are in their places, and the second may be promoted", func() bool {
		writer, reader := a.State(), b.State()
		return writer.Writes && writer.Waits && writer.Members == 2 && writer.Config != nil &&
			reader.Streaming && reader.Synchronous && reader.Leader == first.Name
	})
	writer, reader := a.State(), b.State()
	if c := writer.Config; c["ttl"] != "60" || c["synchronous_mode"] != "quorum" || c["failsafe_mode"] != "false" || c["version"] == "" {
		t.Errorf("Patroni's settings are %v", c)
	}
	if len(writer.Terms) != 1 || writer.Terms[0].After != "" || writer.Terms[0].To != nil || len(reader.Terms) != 0 || writer.Why != "" || reader.Why == "" {
		t.Errorf("the first to lead is told as %+v, and the other as %+v", writer, reader)
	}
	if writer.Timeline != reader.Timeline || writer.Written == 0 || reader.Written != 0 || reader.Applied == 0 {
		t.Errorf("the writer is at %+v, and its standby at %+v", writer, reader)
	}

	switchedOver(t, a, b, first, second)
	restartedInPlace(t, b, second)

	agentOf(t, second, len(nodes))
	await(t, "all are paused", func() bool { return a.State().Paused && b.State().Paused })
}

// switchedOver has the second take the writes.
func switchedOver(t *testing.T, a, b *manager.Member, first, second *patronitest.Node) {
	t.Helper()
	if err := b.SwitchOver("planned"); err == nil {
		t.Error("a standby gives up what it has not")
	}
	planned := ended(t, a, "planned")
	for i := 0; i < 5 && planned.Outcome == wire.SwitchoverFailed; i++ { // Patroni gives up where the others are slow to answer
		t.Logf("asking again: it ended as %+v", planned)
		planned = ended(t, a, fmt.Sprintf("planned-%d", i))
	}
	if planned.Outcome != wire.SwitchoverDone || planned.To != second.Name {
		t.Fatalf("it ended as %+v; Patroni's log:\n%s", planned, first.Log())
	}
	await(t, "the second takes the writes, and is in its place", func() bool {
		s := b.State()
		return s.Writes && !slices.ContainsFunc(s.Absences, func(a wire.Absence) bool { return a.BackAt == nil })
	})
	await(t, "the first streams from it", func() bool {
		away := a.State().Absences
		return len(away) > 0 && away[len(away)-1].BackAt != nil && a.State().Streaming
	})
	before, after := a.State(), b.State()
	if len(after.Terms) != 1 || len(before.Terms) != 1 || before.Terms[0].To == nil {
		t.Fatalf("terms %+v and then %+v", before.Terms, after.Terms)
	}
	term := after.Terms[0]
	if term.After != first.Name || term.NoticedAt == nil || term.NoticedAt.After(term.From.Time) {
		t.Errorf("its term is %+v", term)
	}
	if asked := &planned.RequestedAt; term.NoticedAt.Before(asked) || before.Terms[0].To.Before(asked) {
		t.Errorf("the terms are %+v and then %+v, and the switchover was asked for at %v", before.Terms[0], term, asked)
	}
	for _, away := range before.Absences {
		if away.Resync != nil || away.RequestedAt != nil {
			t.Errorf("the first became a standby by %+v", away)
		}
	}
}

// ended is how a switchover has ended that is asked for now.
func ended(t *testing.T, m *manager.Member, name string) (s wire.Switchover) {
	t.Helper()
	if err := m.SwitchOver(name); err != nil {
		t.Fatal(err)
	}
	await(t, "the switchover has ended", func() bool {
		all := m.State().Switchovers
		s = all[len(all)-1]
		return s.Outcome != ""
	})
	return s
}

// restartedInPlace kills the second, which takes its lock again.
func restartedInPlace(t *testing.T, b *manager.Member, second *patronitest.Node) {
	t.Helper()
	timeline, killed := b.State().Timeline, time.Now()
	second.Kill()
	await(t, "its server is gone", func() bool { return b.State().Timeline == 0 })
	second.Run()
	await(t, "it takes the writes again, and is back", func() bool {
		s := b.State()
		return s.Writes && s.Absences[len(s.Absences)-1].BackAt != nil
	})
	s := b.State()
	if len(s.Terms) != 2 || s.Terms[0].To == nil || s.Terms[1].After != second.Name || s.Terms[1].From.Before(s.Terms[0].To) {
		t.Fatalf("its terms are %+v", s.Terms)
	}
	if s.Timeline > timeline && (s.Terms[1].NoticedAt == nil || s.Terms[1].NoticedAt.Before(s.Terms[0].To)) {
		t.Errorf("it was promoted, and its second term is %+v", s.Terms[1])
	}
	if away := s.Absences[len(s.Absences)-1]; away.LeftAt.Time.Before(killed) || away.BackAt == nil || away.Resync != nil && away.Resync.Method == v1alpha1.ResyncBackup {
		t.Errorf("it was away by %+v, and its terms are %+v", away, s.Terms)
	}
}
