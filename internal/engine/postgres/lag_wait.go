package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/timer"
)

// lagWrite is a write that a probe has begun.
type lagWrite struct {
	row  uint64
	size int       // index into the payload sizes
	at   time.Time // when it began
}

// LagWatcher is a session on a node.
type LagWatcher struct {
	lagReader
	primary *lagSession // for the primary's figures, nil without one
	pace    *lagPace
	fine    *timer.Timer // nil until something is awaited
	missed  looked
}

// Missed does as lag.Poller says.
func (w *LagWatcher) Missed() (began, ended time.Time) { return w.missed.began, w.missed.ended }

// Server does as lag.Watcher says.
func (w *LagWatcher) Server() engine.LagWatched {
	return engine.LagWatched{Identity: w.node, CommitOrder: true, Polled: true}
}

// Wait does as lag.Watcher says: it looks for the row again and again once the write has begun, and not much before it may be there.
func (w *LagWatcher) Wait(seq uint64, atMost time.Duration) (bool, error) {
	w.missed = looked{}
	end := time.Now().Add(atMost)
	write, begun := w.probe.writes.Await(seq, end)
	if !begun {
		return false, nil
	}
	if w.fine == nil {
		w.fine = timer.New()
	}
	id := strconv.AppendUint(nil, write.row, 10)
	seen, err := w.poll(write, end, waiting{time.Now, w.fine.Sleep, func() (bool, error) {
		result := w.run("see", id)
		return len(result.Rows) > 0, result.Err
	}})
	if err != nil {
		return false, fmt.Errorf("look for the probe's write %d: %w", seq, err)
	}
	return seen, nil
}

// viewTimeout bounds a question for the primary's figures: a watcher has its writes to look for.
const viewTimeout = 250 * time.Millisecond

// viewQuery has the row of one standby, by its name as its primary knows it.
const viewQuery = `PREPARE view (text) AS SELECT flush_lsn, (extract(epoch FROM flush_lag) * 1000000)::bigint,
 replay_lsn, (extract(epoch FROM replay_lag) * 1000000)::bigint FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'`

// View does as lag.Watcher says, by the primary's figures of its standbys. Transport is until a standby has flushed, which is what a crash
// would lose; Apply is until it shows. Both have the way of the standby's answer in them, and there are none while nothing is written.
// Without a primary that answers there are none either, which is no error of this node's.
func (w *LagWatcher) View() (engine.ReplicaView, error) {
	v, err := w.view()
	if err != nil && w.primary != nil {
		_ = w.primary.Close() // it is given up
		w.primary = nil
	}
	return v, nil
}

func (w *LagWatcher) view() (v engine.ReplicaView, err error) {
	if w.primary == nil {
		if err := w.openPrimary(); err != nil {
			return v, err
		}
	}
	result := w.primary.run("view", []byte(w.node))
	if result.Err != nil || len(result.Rows) != 1 {
		return v, result.Err
	}
	r := result.Rows[0]
	if v.Queued, v.Transport, err = viewed(r[0], r[1]); err != nil {
		return v, err
	}
	v.Executed, v.Apply, err = viewed(r[2], r[3])
	return v, err
}

func (w *LagWatcher) openPrimary() error {
	ctx, cancel := context.WithTimeout(context.Background(), viewTimeout)
	defer cancel()
	s, err := openLag(ctx, w.probe.account(w.probe.target.Writes), viewTimeout)
	if err != nil {
		return err
	}
	w.primary = s
	_, err = rows(ctx, s.conn, viewQuery)
	return err
}

// viewed is nothing where the server has no figure.
func viewed(position, microseconds []byte) (string, *time.Duration, error) {
	if position == nil || microseconds == nil {
		return "", nil, nil
	}
	n, err := strconv.ParseInt(string(microseconds), 10, 64)
	if err != nil {
		return "", nil, fmt.Errorf("read the primary's figures of its standby: %w", err)
	}
	d := time.Duration(n) * time.Microsecond
	return string(position), &d, nil
}

// Close gives the session up.
func (w *LagWatcher) Close() error {
	if w.primary != nil {
		_ = w.primary.Close() // it is given up
	}
	if w.fine != nil {
		w.fine.Close()
	}
	return w.lagSession.Close()
}

// randomBytes cannot be compressed on their way.
func randomBytes(size int64) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}
