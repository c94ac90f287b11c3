package mysql

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mysql/gtid"
)

// Lag opens the sessions of one lag probe. It names the GTIDs of its writes itself, by a source of its own and the write's number: so waits are
// woken by the probe's commits alone. gtid_executed shows a write right after the storage engine's commit.
type Lag struct {
	*family.LagProbe
	source string // a UUID, new for every probe
}

// NewLag connects to nothing yet.
func NewLag(t engine.LagTarget) *Lag {
	return &Lag{LagProbe: family.NewLagProbe(t, dialect.Lag), source: newUUID()}
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (l *Lag) gtids(first, last uint64) string {
	return l.source + ":" + strconv.FormatUint(first, 10) + "-" + strconv.FormatUint(last, 10)
}

// OpenWriter does as lag.Engine says.
func (l *Lag) OpenWriter(ctx context.Context) (*LagWriter, error) {
	s, err := l.LagProbe.OpenWriter(ctx)
	return &LagWriter{lagReader{s, l}}, err
}

// OpenWatcher does as lag.Engine says.
func (l *Lag) OpenWatcher(ctx context.Context, host string) (*LagWatcher, error) {
	s, err := l.LagProbe.OpenWatcher(ctx, host)
	if err != nil {
		return nil, err
	}
	w := &LagWatcher{lagReader: lagReader{s, l}, self: engine.LagWatched{Identity: s.Identity, CommitOrder: true}}
	if s.Member != nil {
		return w, nil
	}
	row, err := s.Row("SELECT @@GLOBAL.replica_preserve_commit_order", 1)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask %s for the order of its commits: %w", host, err), s.Close())
	}
	w.self.CommitOrder = *row[0] == "1"
	return w, nil
}

// lagReader is what both kinds of sessions can ask.
type lagReader struct {
	*family.ProbeSession
	probe *Lag
}

// Missing does as lag.Session says.
func (r lagReader) Missing(first, last uint64) (engine.Spans, error) {
	if r.Member != nil {
		return r.Member.Missing(first, last)
	}
	row, err := r.Row("SELECT GTID_SUBTRACT('"+r.probe.gtids(first, last)+"', @@GLOBAL.gtid_executed)", 1)
	if err != nil {
		return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
	}
	if row[0] == nil {
		return nil, errors.New("ask which of the probe's writes are missing: the server answered NULL")
	}
	return r.probe.spans(*row[0])
}

// spans reads the numbers of the probe's own writes from a GTID set, in which there may be nothing else.
func (l *Lag) spans(text string) (engine.Spans, error) {
	set, err := gtid.Parse(text)
	if err != nil {
		return nil, err
	}
	intervals, only := set.Only(l.source)
	if !only {
		return nil, fmt.Errorf("GTID set %q: the server answered something else than the probe's own writes", text)
	}
	var out engine.Spans
	for _, i := range intervals {
		out = append(out, engine.Span{First: uint64(i.First), Last: uint64(i.Last)})
	}
	return out, nil
}

// LagWriter is a session on the server that takes the writes.
type LagWriter struct{ lagReader }

// Write does as lag.Writer says, in one round trip. The GTID needs SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER; members of a group give none.
// Close the session after an error: a GTID must not stay pending in it.
func (w *LagWriter) Write(seq, row uint64, size int) error {
	named := "SET SESSION gtid_next='" + w.probe.source + ":" + strconv.FormatUint(seq, 10) + "';"
	if w.Member != nil {
		named = ""
	}
	return w.Insert(named, seq, row, size)
}

// LagWatcher is a session on a node.
type LagWatcher struct {
	lagReader
	self engine.LagWatched
}

// Server does as lag.Watcher says.
func (w *LagWatcher) Server() engine.LagWatched { return w.self }

// Wait does as lag.Watcher says; the server wakes it.
func (w *LagWatcher) Wait(seq uint64, atMost time.Duration) (bool, error) {
	if w.Member != nil {
		return w.Member.Wait(seq, atMost)
	}
	row, err := w.Row(fmt.Sprintf("SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %.3f)", w.probe.gtids(seq, seq), atMost.Seconds()), 1)
	if err != nil {
		return false, fmt.Errorf("wait for the probe's write %d: %w", seq, err)
	}
	if row[0] == nil {
		return false, fmt.Errorf("wait for the probe's write %d: the server answered NULL", seq)
	}
	return *row[0] == "0", nil
}

// viewQuery has one row, NULL where there is no transaction. ORIGINAL_COMMIT is by the clock of the server that
// committed, the other ends by the replica's. Of several workers the last to have applied counts.
const viewQuery = `SELECT q.at, q.took, a.at, a.took FROM (SELECT 1) one
LEFT JOIN (SELECT LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP at, TIMESTAMPDIFF(MICROSECOND,
 LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP) took
 FROM performance_schema.replication_connection_status WHERE LAST_QUEUED_TRANSACTION <> '' ORDER BY 1 DESC LIMIT 1) q ON TRUE
LEFT JOIN (SELECT LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP at, TIMESTAMPDIFF(MICROSECOND,
 LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP, LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP) took
 FROM performance_schema.replication_applier_status_by_worker WHERE LAST_APPLIED_TRANSACTION <> '' ORDER BY 1 DESC LIMIT 1) a ON TRUE`

// View does as lag.Watcher says; of a group the server has no such figures.
func (w *LagWatcher) View() (engine.ReplicaView, error) {
	if w.Member != nil {
		return engine.ReplicaView{}, nil
	}
	row, err := w.Row(viewQuery, 4)
	if err != nil {
		return engine.ReplicaView{}, fmt.Errorf("ask for the replica's own figures: %w", err)
	}
	var v engine.ReplicaView
	if v.Queued, v.Transport, err = viewed(row[0], row[1]); err != nil {
		return engine.ReplicaView{}, err
	}
	v.Executed, v.Apply, err = viewed(row[2], row[3])
	return v, err
}

func viewed(at, took *string) (string, *time.Duration, error) {
	if at == nil || took == nil {
		return "", nil, nil
	}
	n, err := strconv.ParseInt(*took, 10, 64)
	if err != nil {
		return "", nil, fmt.Errorf("read the replica's own figures: %w", err)
	}
	d := time.Duration(n) * time.Microsecond
	return *at, &d, nil
}
