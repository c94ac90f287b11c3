package agent_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// writers write users one after the other, to the member that takes the writes, and note which of them were acknowledged.
type writers struct {
	tr     *trio
	next   atomic.Uint64
	target atomic.Pointer[trioMember]
	gate   sync.RWMutex // held by who writes

	mu           sync.Mutex
	acknowledged []uint64
	at           []time.Time
}

func newWriters(tr *trio, n int) *writers {
	w := &writers{tr: tr}
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() {
		for ctx.Err() == nil {
			w.target.Store(tr.writer())
			time.Sleep(50 * time.Millisecond) // between two looks
		}
	})
	for range n {
		loops.Go(func() {
			for ctx.Err() == nil {
				w.write(ctx)
				time.Sleep(writerPause) // see there
			}
		})
	}
	tr.t.Cleanup(func() {
		cancel()
		loops.Wait()
	})
	return w
}

// writerPause is the time between two writes of one writer: a member that is away for a while is to find what it missed with the others.
const writerPause = 2 * time.Millisecond

// write one user, unless there is nobody to write to.
func (w *writers) write(ctx context.Context) {
	w.gate.RLock()
	defer w.gate.RUnlock()
	m := w.target.Load()
	if m == nil {
		time.Sleep(10 * time.Millisecond) // until somebody may take writes
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	id := w.next.Add(1)
	_, err := m.db.ExecContext(ctx, "INSERT INTO users (write_id, first_name, last_name, password) VALUES (?, 'a', 'b', 'c')", id)
	if err != nil {
		time.Sleep(10 * time.Millisecond) // a member that refuses does so at once
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acknowledged, w.at = append(w.acknowledged, id), append(w.at, time.Now())
}

// awaitMore waits until this many writes more are acknowledged.
func (w *writers) awaitMore(n int) {
	w.tr.t.Helper()
	before := w.count()
	w.tr.await("writes are acknowledged", time.Minute, func() bool { return w.count() >= before+n })
}

// pause returns when nobody writes, and resume lets them go on.
func (w *writers) pause() { w.gate.Lock() }

func (w *writers) resume() { w.gate.Unlock() }

func (w *writers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acknowledged)
}

func (w *writers) acknowledgedIDs() []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acknowledged)
}

// firstAfter is when the first write was acknowledged after a moment, zero when none was.
func (w *writers) firstAfter(moment time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.at, func(at time.Time) bool { return at.After(moment) })
	if i < 0 {
		return time.Time{}
	}
	return w.at[i]
}
