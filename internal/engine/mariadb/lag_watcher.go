package mariadb

import (
	"fmt"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb/gtid"
)

// LagWatcher is a session on a node.
type LagWatcher struct {
	lagReader
	// follows is the server whose writes this one was seen to have.
	follows uint32
}

// unknownPause is how long a watcher waits before it looks again who takes writes.
const unknownPause = 10 * time.Millisecond

// Server does as lag.Watcher says.
func (w *LagWatcher) Server() engine.LagWatched {
	return engine.LagWatched{Identity: w.Identity, CommitOrder: true}
}

// Missing does as lag.Session says. A replica writes into its binary log, and flushes that, before it commits: what is visible
// gtid_slave_pos tells, and whose it is the binary log.
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
		return logged.Has(probeDomain, n.server, n.number) && applied.Last(probeDomain) >= n.number
	}), nil
}

// Wait does as lag.Watcher says; the server wakes it. It compares numbers only: one that went on with the number in another history, such
// as a replica that received more than the one that was promoted, would seem to have the write. So the first one of each server is
// looked for by its whole name.
func (w *LagWatcher) Wait(seq uint64, atMost time.Duration) (bool, error) {
	if w.Member != nil {
		return w.Member.Wait(seq, atMost)
	}
	n, ok := w.probe.of(seq)
	if !ok {
		time.Sleep(min(atMost, unknownPause))
		return false, nil
	}
	row, err := w.Row(fmt.Sprintf("SELECT MASTER_GTID_WAIT('%d-%d-%d', %.3f)", probeDomain, n.server, n.number, atMost.Seconds()), 1)
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
	state, err := w.state()
	if err != nil {
		return false, fmt.Errorf("look for the probe's write %d: %w", seq, err)
	}
	if !state.Has(probeDomain, n.server, n.number) {
		time.Sleep(min(atMost, unknownPause)) // the server would answer at once again
		return false, nil
	}
	w.follows = n.server
	return true, nil
}

// View does as lag.Watcher says: the server has no figures of its own but whole seconds, which are none.
func (w *LagWatcher) View() (engine.ReplicaView, error) { return engine.ReplicaView{}, nil }
