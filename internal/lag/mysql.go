package lag

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"replab.dev/internal/wire"
)

// Limits of the MySQL sessions.
const (
	dialTimeout  = time.Second
	writeTimeout = 5 * time.Second         // then a write counts as discarded: its server is gone, or waits for a replica
	readTimeout  = waitSlice + time.Second // a wait answers within its slice
)

// maxPayloadBytes is what the payload column of wire.ProbeTable holds.
const maxPayloadBytes = 65000

// mysqlEngine names the GTIDs of its writes itself: a source of its own, which is no server's, and the write's number.
// So a node can wait for a write that does not exist yet, and a wait is woken by the probe's commits alone, not by those
// of the load.
type mysqlEngine struct {
	source   string // a UUID, new for every probe
	writes   string // host:port
	password string
	payloads []string
	log      *slog.Logger
}

func newMySQL(c Config) *mysqlEngine {
	e := &mysqlEngine{source: newUUID(), password: c.Secret, log: c.Log}
	e.writes = net.JoinHostPort(c.Writes.Host, strconv.Itoa(c.Writes.Port))
	for _, bytes := range c.PayloadBytes {
		e.payloads = append(e.payloads, randomText(bytes))
	}
	return e
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// randomText is random and needs no escaping in a literal: nothing on the way can compress it by more than a quarter.
func randomText(bytes int64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[b[i]%64]
	}
	return string(b)
}

func (e *mysqlEngine) gtids(first, last uint64) string {
	return e.source + ":" + strconv.FormatUint(first, 10) + "-" + strconv.FormatUint(last, 10)
}

func (e *mysqlEngine) openWriter(ctx context.Context) (writer, error) {
	s, err := dial(ctx, e.writes, e.password, writeTimeout, e.log)
	if err != nil {
		return nil, err
	}
	row, err := s.row("SELECT @@server_uuid, @@hostname, @@GLOBAL.read_only", 3)
	if err == nil && *row[2] != "0" {
		err = fmt.Errorf("%s (%s) is read-only", *row[1], *row[0])
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("open a session for writes on %s: %w", e.writes, err)
	}
	return &mysqlWriter{mysqlReader{s, e}, server{identity: *row[0], hostname: *row[1]}}, nil
}

func (e *mysqlEngine) openWatcher(ctx context.Context, address string) (watcher, error) {
	s, err := dial(ctx, address, e.password, readTimeout, e.log)
	if err != nil {
		return nil, err
	}
	row, err := s.row("SELECT @@server_uuid, @@GLOBAL.replica_preserve_commit_order", 2)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("ask %s for its identity: %w", address, err)
	}
	return &mysqlWatcher{mysqlReader{s, e}, watched{identity: *row[0], commitOrder: *row[1] == "1"}}, nil
}

// mysqlReader is what both kinds of sessions can ask.
type mysqlReader struct {
	*session
	engine *mysqlEngine
}

func (r mysqlReader) missing(first, last uint64) (spans, error) {
	row, err := r.row("SELECT GTID_SUBTRACT('"+r.engine.gtids(first, last)+"', @@GLOBAL.gtid_executed)", 1)
	if err != nil {
		return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
	}
	if row[0] == nil {
		return nil, errors.New("ask which of the probe's writes are missing: the server answered NULL")
	}
	return parseSpans(*row[0])
}

type mysqlWriter struct {
	mysqlReader
	self server
}

func (w *mysqlWriter) server() server { return w.self }

// write sets the GTID and inserts the row in one round trip. SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER is needed.
func (w *mysqlWriter) write(seq, row uint64, size int) error {
	err := w.exec("SET SESSION gtid_next='" + w.engine.source + ":" + strconv.FormatUint(seq, 10) + "';" +
		"INSERT INTO " + wire.ProbeTable + "(id,payload) VALUES(" + strconv.FormatUint(row, 10) + ",'" + w.engine.payloads[size] + "')")
	if err != nil {
		return fmt.Errorf("insert row %d into %s as the probe's write %d: %w", row, wire.ProbeTable, seq, err)
	}
	return nil
}

type mysqlWatcher struct {
	mysqlReader
	self watched
}

func (w *mysqlWatcher) watched() watched { return w.self }

func (w *mysqlWatcher) wait(seq uint64, atMost time.Duration) (bool, error) {
	row, err := w.row(fmt.Sprintf("SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %.3f)", w.engine.gtids(seq, seq), atMost.Seconds()), 1)
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

func (w *mysqlWatcher) view() (engineView, error) {
	row, err := w.row(viewQuery, 4)
	if err != nil {
		return engineView{}, fmt.Errorf("ask for the replica's own figures: %w", err)
	}
	var v engineView
	if v.queued, v.transport, err = viewed(row[0], row[1]); err != nil {
		return engineView{}, err
	}
	v.executed, v.apply, err = viewed(row[2], row[3])
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
