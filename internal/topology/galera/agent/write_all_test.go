package agent_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/wire"
)

// TestAGroupOfThreeThatAllWriteTo: each member in step says that it takes writes, and does. One that dies says no, the others go on once
// they have given it up, and all end with the same rows, every acknowledged write among them.
func TestAGroupOfThreeThatAllWriteTo(t *testing.T) {
	tr := newTrio(t, engine.Full, func(g *wire.GroupConfig) { g.WriteAll = true })
	says := func(m *trioMember) bool {
		_, err := httpclient.Do(t.Context(), tr.http, httpclient.Request{Method: http.MethodGet, URL: client.URL(m.Host) + wire.AgentPathPrimary})
		return err == nil
	}
	all := func(members []*trioMember) bool {
		return !slices.ContainsFunc(members, func(m *trioMember) bool { return !says(m) })
	}
	tr.await("all members take writes", time.Minute, func() bool { return all(tr.members) })

	w := writeToAll(tr)
	first := tr.members[0]
	tr.await("writes to each member are acknowledged", time.Minute, func() bool { return w.each(100) })
	tr.kill(first)
	tr.await("the dead member says that it takes no writes", time.Minute, func() bool { return !says(first) })
	tr.await("the others go on", time.Minute, func() bool { return all(tr.members[1:]) && w.more() })
	first.startWrapper(t)
	tr.awaitWhole()
	tr.await("the one that is back takes writes again", time.Minute, func() bool { return all(tr.members) && w.each(200) })
	w.stop()
	tr.awaitRest()
	held := tr.held(first)
	if gone := missing(w.acknowledged(), held); len(gone) > 0 {
		t.Errorf("%d acknowledged writes are lost: %v", len(gone), gone[:min(len(gone), 20)])
	}
	for _, m := range tr.members[1:] {
		if other := tr.held(m); !slices.Equal(other, held) {
			t.Errorf("%s holds %d writes, %s %d, and they are not the same", m.Name, len(other), first.Name, len(held))
		}
	}
	if _, found := tr.inspections(first); len(missing(found.First(int(found.Count())), held)) > 0 {
		t.Errorf("%s held writes that the group does not hold", first.Name)
	}
	if s := tr.group(first); len(s.Terms) != 0 {
		t.Errorf("where all take writes one has terms: %+v", s.Terms)
	}
}

// toAll writes users to all members at the same time, one after the other to each.
type toAll struct {
	stop func()

	mu   sync.Mutex
	acks [][]uint64 // by member
	seen int
}

func writeToAll(tr *trio) *toAll {
	w := &toAll{acks: make([][]uint64, len(tr.members))}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	var next atomic.Uint64
	for i, m := range tr.members {
		loops.Go(func() {
			for ctx.Err() == nil {
				id := next.Add(1)
				limited, end := context.WithTimeout(context.Background(), 5*time.Second)
				_, err := m.db.ExecContext(limited, "INSERT INTO users (write_id, first_name, last_name, password) VALUES (?, 'a', 'b', 'c')", id)
				end()
				if err == nil {
					w.mu.Lock()
					w.acks[i] = append(w.acks[i], id)
					w.mu.Unlock()
				}
				time.Sleep(writerPause) // see there
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		cancel()
		loops.Wait()
	})
	tr.t.Cleanup(w.stop)
	return w
}

// each tells whether every member has acknowledged this many writes.
func (w *toAll) each(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(w.acks, func(a []uint64) bool { return len(a) < n })
}

// more tells whether writes were acknowledged since it was last asked.
func (w *toAll) more() bool {
	n := len(w.acknowledged())
	defer func() { w.seen = n }()
	return w.seen > 0 && n > w.seen
}

func (w *toAll) acknowledged() []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Concat(w.acks...)
}
