package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/polling"
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

// View does as lag.Watcher says, by the primary's figures of its standbys: Transport until a standby has flushed, Apply until it shows, each with
// the way of the answer. While nothing is written, and without a primary that answers, there are none.
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

const (
	closeLooks = 8                    // come without pause: the resolution of a short lag is two of them
	mostFirst  = 5 * time.Millisecond // a standby that has caught up is not looked at much too late
	mostPause  = 4 * time.Millisecond // bounds the resolution of long lags
)

// lagPace is when a node is asked for a write, by the write's age. One that is asked without pause has less of its processor left to apply
// what it is asked for.
type lagPace struct{ guesses []polling.Guess } // per payload size: larger rows show later

func newLagPace(sizes int) *lagPace { return &lagPace{make([]polling.Guess, sizes)} }

// first is the age at the first look.
func (p *lagPace) first(size int) time.Duration { return time.Duration(p.guesses[size]) }

// pause after so many looks. It grows with the age: it is an eighth of that, give or take a half by chance, so that lags which are alike are
// not all found at the same ages.
func (p *lagPace) pause(looks int, age time.Duration, chance float64) time.Duration {
	if looks < closeLooks {
		return 0
	}
	return time.Duration((0.5 + chance) * float64(min(age/8, mostPause)))
}

// learn from a write that the last of so many looks saw. missed is its age at the one before. The first look does not count: it wakes the
// server's process, takes some times as long as those that follow, and would leave a coarse resolution.
func (p *lagPace) learn(size, looks int, missed time.Duration) {
	if looks <= 2 {
		missed = -1
	}
	p.guesses[size].Learn(missed)
	p.guesses[size] = min(p.guesses[size], polling.Guess(mostFirst)) // or it would take as long to unlearn a long lag as it took to learn it
}

// looked is when a look began and ended; zero without a look.
type looked struct{ began, ended time.Time }

// waiting is how time goes by, and a look: whether the write is there.
type waiting struct {
	now   func() time.Time
	sleep func(time.Duration)
	look  func() (bool, error)
}

// poll looks until the write is there, or the time is over: once at least.
func (w *LagWatcher) poll(write lagWrite, end time.Time, by waiting) (bool, error) {
	by.sleep(min(write.at.Add(w.pace.first(write.size)).Sub(by.now()), end.Sub(by.now())))
	for looks := 1; ; looks++ {
		began := by.now()
		seen, err := by.look()
		if err != nil {
			return false, err
		}
		if seen {
			w.pace.learn(write.size, looks, w.missed.began.Sub(write.at))
			return true, nil
		}
		now := by.now()
		w.missed = looked{began, now}
		if !now.Before(end) {
			return false, nil
		}
		by.sleep(w.pace.pause(looks, now.Sub(write.at), rand.Float64()))
	}
}
