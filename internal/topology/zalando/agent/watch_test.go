package agent

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	patroni "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// fakeRemote answers as a test says.
type fakeRemote struct {
	engine.RemoteClient
	mu       sync.Mutex
	run      string
	position engine.ServerPosition
	err      error
	hangs    bool
}

func (f *fakeRemote) RunAndPosition(ctx context.Context) (string, engine.ServerPosition, error) {
	f.mu.Lock()
	run, position, err, hangs := f.run, f.position, f.err, f.hangs
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return "", engine.ServerPosition{}, ctx.Err()
	}
	return run, position, err
}

func TestAServerThatIsOutOfSightIsKnownByItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRemote{err: engine.ErrNoServer}
		w := newWatcher(f)
		if l, err := w.Look(); !errors.Is(err, watch.ErrNotAsked) || l.Server != "" || l.Position != nil || l.Why == "" {
			t.Errorf("before it was asked it is told as %+v, %v", l, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		loop.Go(func() { w.Run(ctx) })
		at := func(change func(*fakeRemote)) patroni.Look {
			t.Helper()
			f.mu.Lock()
			change(f)
			f.mu.Unlock()
			time.Sleep(3 * watch.Freshness) // of the bubble, whose time is not that of clocks
			synctest.Wait()
			l, err := w.Look()
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		for _, c := range []struct {
			what    string
			change  func(*fakeRemote)
			server  string
			answers bool
		}{
			{"it does not run", func(*fakeRemote) {}, "", false},
			{"it runs", func(f *fakeRemote) { f.run, f.position, f.err = "1", engine.ServerPosition{Timeline: 2}, nil }, "1", true},
			{"it refuses to answer", func(f *fakeRemote) { f.err = errors.New("the database system is starting up") }, "1", false},
			{"it hangs", func(f *fakeRemote) { f.err, f.hangs = nil, true }, "1", false},
			{"it answers again", func(f *fakeRemote) { f.hangs = false }, "1", true},
			{"it is another one", func(f *fakeRemote) { f.run = "2" }, "2", true},
			{"it has ended", func(f *fakeRemote) { f.run, f.err = "", engine.ErrNoServer }, "", false},
			{"it does not run, and then something else is wrong", func(f *fakeRemote) { f.err = errors.New("no route") }, "", false},
		} {
			l := at(c.change)
			if l.Server != c.server || (l.Position != nil) != c.answers || (l.Why == "") != c.answers || time.Since(l.At) > watch.Freshness {
				t.Errorf("%s: it is told as %+v at %v", c.what, l, time.Since(l.At))
			}
			if c.answers && (l.Position.Timeline != 2 || l.Asked.IsZero() || l.Asked.After(l.At)) {
				t.Errorf("%s: it is on timeline %d, asked at %s", c.what, l.Position.Timeline, l.Asked)
			}
		}
		cancel()
		loop.Wait()
	})
}

// lateRemote answers after a while, by the clock of the bubble that the test runs in.
type lateRemote struct{ *fakeRemote }

func (l lateRemote) RunAndPosition(ctx context.Context) (string, engine.ServerPosition, error) {
	time.Sleep(20 * time.Millisecond)
	return l.fakeRemote.RunAndPosition(ctx)
}

// lateLeader is the manager of the node that leads, and answers after a while, by the bubble's clock.
type lateLeader struct{ engine.ManagerClient }

func (lateLeader) Node(context.Context) (engine.ManagerNode, error) {
	time.Sleep(200 * time.Millisecond)
	return engine.ManagerNode{Holds: true, State: "running"}, nil
}

func (lateLeader) Cluster(context.Context) (engine.ManagerCluster, error) {
	time.Sleep(200 * time.Millisecond)
	return engine.ManagerCluster{Leader: "a-db-0", LeaderTimeline: 1, Running: 1}, nil
}

func (lateLeader) Settings(context.Context) (engine.ManagerSettings, error) {
	return engine.ManagerSettings{TTL: 20 * time.Second}, nil
}

// TestAnAgentThatIsStartedAnewBesideAServerThatRunsOn has seen it neither go nor come.
func TestAnAgentThatIsStartedAnewBesideAServerThatRunsOn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for agent := range 3 {
			w := newWatcher(lateRemote{&fakeRemote{run: "1", position: engine.ServerPosition{Writable: true, Timeline: 1}}})
			m, err := patroni.New(wire.ManagerConfig{}, "a-db-0", dir, dir, w, lateLeader{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var loops sync.WaitGroup
			loops.Go(func() { w.Run(ctx) })
			loops.Go(func() { m.Run(ctx) })
			time.Sleep(3 * time.Second) // of the bubble: long enough for every answer
			if got := m.State(); !got.Writes || len(got.Terms) != 1 || got.Terms[0].To != nil || len(got.Absences) != 0 {
				t.Errorf("agent %d tells that it writes: %v, terms %+v, absences %+v", agent, got.Writes, got.Terms, got.Absences)
			}
			cancel()
			loops.Wait()
		}
	})
}
