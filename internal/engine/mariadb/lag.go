package mariadb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
)

// Lag opens the sessions of one lag probe. Its writes have a domain of their own, the one after their server's. So their numbers are known beforehand, and waits are woken
// by them alone. gtid_slave_pos shows a write right after the storage engine's commit. slave_parallel_threads=0 keeps both domains in one order.
type Lag struct {
	*family.LagProbe

	mu    sync.Mutex
	taken []taking // in the order of their writes
}

// taking is a session's part of the writes: write number W has the transaction number W + offset, made by server.
type taking struct {
	first  uint64 // write
	domain uint32
	server uint32
	offset int64
}

// name is a transaction of the probe.
type name struct {
	domain, server uint32
	number         uint64
}

func (n name) String() string { return fmt.Sprintf("%d-%d-%d", n.domain, n.server, n.number) }

func (n name) in(s gtid.State) bool { return s.Has(n.domain, n.server, n.number) }

// NewLag connects to nothing yet.
func NewLag(t engine.LagTarget) *Lag {
	return &Lag{LagProbe: family.NewLagProbe(t, dialect.Lag)}
}

// take notes that a session takes the writes from the given one on. last is the last transaction of its domain.
func (l *Lag) take(first uint64, last name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, taking{first: first, domain: last.domain, server: last.server, offset: int64(last.number) + 1 - int64(first)})
}

// of is the transaction of a write, which may be the next one; false before any session.
func (l *Lag) of(write uint64) (name, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.taken) - 1; i >= 0; i-- {
		if t := l.taken[i]; t.first <= write {
			return name{t.domain, t.server, uint64(int64(write) + t.offset)}, true
		}
	}
	return name{}, false
}

// OpenWriter does as lag.Engine says.
func (l *Lag) OpenWriter(ctx context.Context) (*LagWriter, error) {
	s, err := l.LagProbe.OpenWriter(ctx)
	if err != nil {
		return nil, err
	}
	w := &LagWriter{lagReader: lagReader{s, l}}
	if s.Member != nil {
		return w, nil
	}
	if err := w.number(); err != nil {
		return nil, errors.Join(fmt.Errorf("number the probe's writes on %s: %w", s.Hostname, err), s.Close())
	}
	return w, nil
}

// OpenWatcher does as lag.Engine says.
func (l *Lag) OpenWatcher(ctx context.Context, host string) (*LagWatcher, error) {
	s, err := l.LagProbe.OpenWatcher(ctx, host)
	return &LagWatcher{lagReader: lagReader{s, l}}, err
}

// lagReader is what both kinds of sessions can ask.
type lagReader struct {
	*family.ProbeSession
	probe *Lag
}

// state is what is in the server's binary log.
func (r lagReader) state() (gtid.State, error) {
	row, err := r.Row("SELECT @@GLOBAL.gtid_binlog_state", 1)
	if err != nil {
		return gtid.State{}, err
	}
	return gtid.Parse(*row[0])
}

// missing are the writes whose transactions a server has not.
func (l *Lag) missing(first, last uint64, has func(name) bool) engine.Spans {
	return engine.Without(first, last, func(seq uint64) bool {
		n, ok := l.of(seq)
		return ok && has(n)
	})
}

// LagWriter is a session on the server that takes the writes.
type LagWriter struct {
	lagReader
	last name // of the domain when the session began, as if it were this server's
	took bool // a write
}

// number has the session's writes in the probe's domain, and notes where that ends.
func (w *LagWriter) number() error {
	id, err := strconv.ParseUint(w.Identity, 10, 32)
	if err != nil {
		return err
	}
	if err := w.Exec("SET SESSION gtid_domain_id=@@GLOBAL.gtid_domain_id+1"); err != nil {
		return err
	}
	row, err := w.Row("SELECT @@SESSION.gtid_domain_id", 1)
	if err != nil {
		return err
	}
	domain, err := strconv.ParseUint(*row[0], 10, 32)
	if err != nil {
		return err
	}
	state, err := w.state()
	w.last = name{uint32(domain), uint32(id), state.Last(uint32(domain))}
	return err
}

// Missing does as lag.Session says. What the server took itself, and what it had applied when it was promoted, is in its binary log.
func (w *LagWriter) Missing(first, last uint64) (engine.Spans, error) {
	if w.Member != nil {
		return w.Member.Missing(first, last)
	}
	state, err := w.state()
	if err != nil {
		return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
	}
	return w.probe.missing(first, last, func(n name) bool { return n.in(state) }), nil
}

// Confirm does as lag.Confirmer says. A write of an earlier session, whose answer did not come in time, may have got the number that was
// meant for this one: what a node then shows under it is the other's. A member of a group names a write as it comes, and is asked for it here.
func (w *LagWriter) Confirm(seq uint64) error {
	if w.Member != nil {
		return w.Member.LearnName(seq)
	}
	row, err := w.Row("SELECT @@last_gtid", 1)
	if err != nil {
		return fmt.Errorf("ask for the name of the probe's write %d: %w", seq, err)
	}
	foreseen, _ := w.probe.of(seq)
	if want := foreseen.String(); row[0] == nil || *row[0] != want {
		return fmt.Errorf("the probe's write %d is not the transaction %s, by which it is waited for: another one came before it", seq, want)
	}
	return nil
}

// Write does as lag.Writer says. BINLOG REPLAY is needed for the domain. A session must be closed after an error: which number the
// next write has is not known then.
func (w *LagWriter) Write(seq, row uint64, size int) error {
	if w.Member == nil && !w.took {
		w.took = true
		w.probe.take(seq, w.last)
	}
	return w.Insert("", seq, row, size)
}

// LagWatcher is a session on a node.
type LagWatcher struct {
	lagReader
	// follows is the server whose writes this one was seen to have.
	follows uint32
}

// unknownPause is how long a watcher waits before it looks again for the server that takes writes.
const unknownPause = 10 * time.Millisecond

// Server does as lag.Watcher says.
func (w *LagWatcher) Server() engine.LagWatched {
	return engine.LagWatched{Identity: w.Identity, CommitOrder: true}
}

// Missing does as lag.Session says. A replica writes into its binary log, and flushes that, before it commits: what is visible
// gtid_slave_pos tells, and whose it is the binary log. Without replicas' updates in the log gtid_slave_pos tells both.
func (w *LagWatcher) Missing(first, last uint64) (engine.Spans, error) {
	if w.Member != nil {
		return w.Member.Missing(first, last)
	}
	row, err := w.Row("SELECT @@GLOBAL.gtid_slave_pos, @@GLOBAL.gtid_binlog_state", 2)
	if err != nil {
		return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
	}
	applied, err := gtid.Parse(*row[0])
	if err != nil {
		return nil, err
	}
	logged, err := gtid.Parse(*row[1])
	if err != nil {
		return nil, err
	}
	return w.probe.missing(first, last, func(n name) bool {
		return (n.in(logged) || n.in(applied)) && applied.Last(n.domain) >= n.number
	}), nil
}

// Wait does as lag.Watcher says; the server wakes it. The server compares numbers alone, also those of another history. So the first write of
// each server is looked for by its whole name.
func (w *LagWatcher) Wait(seq uint64, atMost time.Duration) (bool, error) {
	if w.Member != nil {
		return w.Member.Wait(seq, atMost)
	}
	n, ok := w.probe.of(seq)
	if !ok {
		time.Sleep(min(atMost, unknownPause))
		return false, nil
	}
	row, err := w.Row(fmt.Sprintf("SELECT MASTER_GTID_WAIT('%s', %.3f)", n, atMost.Seconds()), 1)
	if err != nil {
		return false, fmt.Errorf("wait for the probe's write %d: %w", seq, err)
	}
	if row[0] == nil {
		return false, fmt.Errorf("wait for the probe's write %d: the server answered NULL", seq)
	}
	if now, _ := w.probe.of(seq); *row[0] != "0" || now != n { // another server took it
		return false, nil
	}
	if w.follows == n.server {
		return true, nil
	}
	missing, err := w.Missing(seq, seq)
	if err != nil {
		return false, fmt.Errorf("look for the probe's write %d: %w", seq, err)
	}
	if len(missing) > 0 {
		time.Sleep(min(atMost, unknownPause)) // the server would answer at once again
		return false, nil
	}
	w.follows = n.server
	return true, nil
}

// View does as lag.Watcher says: the server's own figures are whole seconds, which are too coarse.
func (w *LagWatcher) View() (engine.ReplicaView, error) { return engine.ReplicaView{}, nil }
