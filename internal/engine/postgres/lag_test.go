package postgres_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/lag"
	"replab.dev/internal/wire"
)

// pair is a primary, its standby, and the sessions of a probe on them.
type pair struct {
	primary, standby *postgrestest.Server
	lag              *postgres.Lag
	writer           *postgres.LagWriter
	watcher          *postgres.LagWatcher
}

func startPair(t *testing.T) pair {
	t.Helper()
	p := pair{primary: postgrestest.Start(t, "a-db-0")}
	p.standby = p.primary.Standby("a-db-1")
	p.lag = postgres.NewLag(engine.LagTarget{
		Writes: p.primary.Endpoint(), Password: postgrestest.Password, PayloadBytes: []int64{0, 1000}, LongestWait: time.Second,
	})
	var err error
	if p.writer, err = p.lag.OpenWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.writer.Close() })
	if p.watcher, err = p.lag.OpenWatcher(t.Context(), host(p.standby)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.watcher.Close() })
	return p
}

func (p pair) write(t *testing.T, seq, row uint64) {
	t.Helper()
	if err := p.writer.Write(seq, row, int(seq%2)); err != nil {
		t.Fatal(err)
	}
}

// sees tells whether the standby shows a write within a time.
func (p pair) sees(t *testing.T, seq uint64, atMost time.Duration) bool {
	t.Helper()
	seen, err := p.watcher.Wait(seq, atMost)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func (p pair) missing(t *testing.T, first, last uint64) engine.Spans {
	t.Helper()
	missing, err := p.watcher.Missing(first, last)
	if err != nil {
		t.Fatal(err)
	}
	return missing
}

func TestLagSessions(t *testing.T) {
	p := startPair(t)
	if got := p.writer.Server(); got != (engine.LagWriter{Identity: "a-db-0", Hostname: "a-db-0"}) {
		t.Errorf("the writer is on %+v", got)
	}
	if got := p.watcher.Server(); got != (engine.LagWatched{Identity: "a-db-1", CommitOrder: true, Polled: true}) {
		t.Errorf("the watcher is on %+v", got)
	}
	early := make(chan bool, 1) // of a write that does not exist yet
	go func() {
		seen, err := p.watcher.Wait(1, time.Minute)
		early <- seen && err == nil
	}()
	p.write(t, 1, 501)
	if !<-early {
		t.Error("the write was not seen")
	}
	if size := one[int](t, p.standby, "SELECT length(payload) FROM probe_writes WHERE id = 501"); size != 1000 {
		t.Errorf("its row has %d bytes", size)
	}
	if p.sees(t, 2, 10*time.Millisecond) {
		t.Error("a write that does not exist was seen")
	}
	p.standby.Exec("SELECT pg_wal_replay_pause()")
	await(t, p.standby, "SELECT pg_get_wal_replay_pause_state() = 'paused'")
	p.write(t, 2, 502)
	p.write(t, 3, 400)
	if p.sees(t, 2, 50*time.Millisecond) {
		t.Error("a standby that applies nothing shows a write")
	}
	if got := p.missing(t, 1, 5); !slices.Equal(got, engine.Spans{{First: 2, Last: 5}}) {
		t.Errorf("missing are %v", got)
	}
	p.standby.Exec("SELECT pg_wal_replay_resume()")
	if !p.sees(t, 3, time.Minute) {
		t.Error("the last write was not seen")
	}
	if got := p.missing(t, 1, 5); !slices.Equal(got, engine.Spans{{First: 4, Last: 5}}) {
		t.Errorf("missing are %v", got)
	}
	for seq := uint64(4); ; seq++ { // the primary has figures while something is written
		p.write(t, seq, 1000+seq)
		p.sees(t, seq, time.Minute)
		v, err := p.watcher.View()
		if err != nil {
			t.Fatal(err)
		}
		if v.Transport != nil && v.Apply != nil && v.Queued != "" && v.Executed != "" && *v.Transport > 0 {
			break
		}
		if seq == 3000 {
			t.Fatalf("the primary told nothing of its standby: %+v", v)
		}
	}
}

func TestLagSessionsOfServersThatAreGoneOrNoPrimaries(t *testing.T) {
	p := startPair(t)
	through := postgres.NewLag(engine.LagTarget{Writes: p.standby.Endpoint(), Password: postgrestest.Password, PayloadBytes: []int64{1}})
	if w, err := through.OpenWriter(t.Context()); err == nil {
		_ = w.Close()
		t.Error("a standby is taken for the primary")
	}
	p.primary.Kill()
	if err := p.writer.Write(1, 501, 0); err == nil {
		t.Error("a server that is gone took a write")
	}
	if v, err := p.watcher.View(); err != nil || v != (engine.ReplicaView{}) {
		t.Errorf("without a primary there is %+v: %v", v, err)
	}
	if p.sees(t, 1, 10*time.Millisecond) {
		t.Error("the write is there")
	}
	p.standby.Kill()
	if _, err := p.watcher.Missing(1, 1); err == nil {
		t.Error("a node that is gone answered")
	}
	if _, err := p.watcher.Wait(1, time.Minute); err == nil {
		t.Error("a node that is gone answered")
	}
}

// TestAProbesWriteThatNoStandbyMayHaveIsNone: nobody knows whether it is to be seen.
func TestAProbesWriteThatNoStandbyMayHaveIsNone(t *testing.T) {
	p := startPair(t)
	awaitsNobody(t, p.primary)
	written := make(chan error, 1)
	go func() { written <- p.writer.Write(1, 501, 0) }()
	await(t, p.primary, "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'replab-lag' AND wait_event = 'SyncRep'")
	p.primary.Exec("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'replab-lag' AND wait_event = 'SyncRep'")
	if err := <-written; err == nil {
		t.Error("it counts as acknowledged")
	}
}

func TestLagProbeOnRealServers(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	nodes := []wire.Node{{Name: "a-db-0", Host: host(primary)}, {Name: "a-db-1", Host: host(standby)}}
	var ids atomic.Uint64
	p, err := lag.New(lag.Config{
		Open: lag.Opens(postgres.NewLag), Nodes: nodes, Writes: primary.Endpoint(), Secret: postgrestest.Password,
		Interval: 20 * time.Millisecond, PayloadBytes: []int64{100}, ProbeIDs: func() uint64 { return ids.Add(1) }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for range 3000 {
		if p.Result().Samples >= 100 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r := p.Result()
	follower := r.Nodes[1]
	if follower.Samples < 100 || r.Nodes[0].Samples != 0 || r.Discarded != 0 || follower.Unseen != 0 || follower.P50Microseconds == nil {
		t.Errorf("%+v", r)
	}
}
