package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Limits of the lag probe's sessions.
const (
	lagDialTimeout  = time.Second
	lagWriteTimeout = 5 * time.Second // then a write counts as discarded: its server is gone, or waits for a standby
	lagReadMargin   = time.Second     // what an answer of a watcher may take
	lagProgram      = "replab-lag"
)

// Lag opens the sessions of one lag probe. It looks for its writes by their rows: a server cannot be asked to wait for one that does not
// exist yet. Visible is what a query sees. Standbys replay the one log of their primary in its order, and show what they have replayed.
type Lag struct {
	target   engine.LagTarget
	payloads [][]byte
	writes   engine.LagWrites[lagWrite]
}

// NewLag connects to nothing yet.
func NewLag(t engine.LagTarget) *Lag {
	l := &Lag{target: t}
	for _, size := range t.PayloadBytes {
		l.payloads = append(l.payloads, bytea(randomBytes(size)))
	}
	return l
}

func (l *Lag) account(e wire.Endpoint) account {
	return account{name: wire.AccountProbe, password: l.target.Password, endpoint: e, database: wire.Database, program: lagProgram}
}

// OpenWriter does as lag.Engine says.
func (l *Lag) OpenWriter(ctx context.Context) (*LagWriter, error) {
	s, err := openLag(ctx, l.account(l.target.Writes), lagWriteTimeout)
	if err != nil {
		return nil, fmt.Errorf("open a session for writes on %s: %w", l.target.Writes.Host, err)
	}
	if s.standby {
		return nil, errors.Join(fmt.Errorf("open a session for writes on %s: %s is a standby", l.target.Writes.Host, s.node), s.Close())
	}
	return &LagWriter{lagReader{s, l}}, nil
}

// OpenWatcher does as lag.Engine says.
func (l *Lag) OpenWatcher(ctx context.Context, host string) (*LagWatcher, error) {
	e, err := nodeEndpoint(host)
	if err != nil {
		return nil, err
	}
	s, err := openLag(ctx, l.account(e), lagReadMargin)
	if err != nil {
		return nil, fmt.Errorf("open a session on %s: %w", host, err)
	}
	return &LagWatcher{lagReader: lagReader{s, l}, pace: newLagPace(len(l.payloads))}, nil
}

// prepareLag are the statements of a session, and a query of its node.
const prepareLag = `PREPARE put AS INSERT INTO ` + wire.ProbeTable + ` (id, payload) VALUES ($1, $2);
PREPARE see AS SELECT 1 FROM ` + wire.ProbeTable + ` WHERE id = $1;
PREPARE list AS SELECT id FROM ` + wire.ProbeTable + ` WHERE id = ANY ($1);
SELECT replab_node(), pg_is_in_recovery()`

// lagSession is one connection whose answers must come within a time, each.
type lagSession struct {
	conn    *pgconn.PgConn
	within  time.Duration
	node    string
	standby bool // when it was opened
}

func openLag(ctx context.Context, a account, within time.Duration) (*lagSession, error) {
	conn, err := a.connect(ctx, lagDialTimeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lagDialTimeout)
	defer cancel()
	s := &lagSession{conn: conn, within: within}
	if err := scan(ctx, conn, prepareLag, &s.node, &s.standby); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close gives the connection up.
func (s *lagSession) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lagDialTimeout)
	defer cancel()
	return s.conn.Close(ctx)
}

// run executes a prepared statement. The time is the connection's own: a context costs a goroutine each time, which the polling would feel.
func (s *lagSession) run(statement string, values ...[]byte) *pgconn.Result {
	if err := s.conn.Conn().SetDeadline(time.Now().Add(s.within)); err != nil {
		return &pgconn.Result{Err: err}
	}
	return s.conn.ExecPrepared(context.Background(), statement, values, nil, nil).Read()
}

// lagReader is what both kinds of sessions can ask.
type lagReader struct {
	*lagSession
	probe *Lag
}

// Missing does as lag.Session says.
func (r lagReader) Missing(first, last uint64) (engine.Spans, error) {
	return r.probe.writes.Missing(first, last, func(w lagWrite) uint64 { return w.row }, func(ids []string) (shown []string, err error) {
		result := r.run("list", []byte("{"+strings.Join(ids, ",")+"}"))
		for _, row := range result.Rows {
			shown = append(shown, string(row[0]))
		}
		return shown, result.Err
	})
}

// LagWriter is a session on the server that takes the writes.
type LagWriter struct{ lagReader }

// Server does as lag.Writer says.
func (w *LagWriter) Server() engine.LagWriter {
	return engine.LagWriter{Identity: w.node, Hostname: w.node}
}

// Write does as lag.Writer says. A write that the server executed with a warning may lack on its standbys.
func (w *LagWriter) Write(seq, row uint64, size int) error {
	w.probe.writes.Begin(seq, lagWrite{row, size, time.Now()})
	err := w.run("put", strconv.AppendUint(nil, row, 10), w.probe.payloads[size]).Err
	if warned := lastWarning(w.conn); err == nil && warned != nil {
		err = notReplicated(warned)
	}
	if err != nil {
		return fmt.Errorf("insert row %d into %s as the probe's write %d: %w", row, wire.ProbeTable, seq, err)
	}
	return nil
}

// randomBytes cannot be compressed on their way.
func randomBytes(size int64) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}
