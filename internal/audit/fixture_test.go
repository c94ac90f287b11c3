package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// engines are what the audit is told of engines.
var engines = engine.Lookup[Open]{
	"MySQL": Opens(mysql.OpenReader), "MariaDB": Opens(mariadb.OpenReader), "PostgreSQL": Opens(postgres.OpenReader),
}

const (
	writes = 20_000
	seeded = 500
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The fate of the fixture's writes, by the last digits of the id. Ids that end in 1 have an indeterminate outcome,
// those in 2 have none: each of these is there when its hundreds digit is even.
func rejected(id uint64) bool      { return id%10 == 0 }
func indeterminate(id uint64) bool { return id%10 == 1 || id%10 == 2 }
func acknowledged(id uint64) bool  { return !rejected(id) && !indeterminate(id) }
func inTable(id uint64) bool       { return acknowledged(id) || indeterminate(id) && id/100%2 == 0 }

// ackTime is when a write was acknowledged.
func ackTime(id uint64) time.Time { return began.Add(time.Duration(id) * 3 * time.Millisecond) }

// writeLedger writes the fixture's ledger through a real writer.
func writeLedger(t testing.TB, n uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	w, err := ledger.Open(path, began)
	must(t, err)
	for range n {
		id, err := w.Next()
		must(t, err)
		switch {
		case rejected(id):
			must(t, w.Record(id, ledger.Rejected, ackTime(id)))
		case acknowledged(id):
			must(t, w.Record(id, ledger.Acknowledged, ackTime(id)))
		case id%10 == 1:
			must(t, w.Record(id, ledger.Indeterminate, ackTime(id)))
		}
	}
	must(t, w.Close())
	return path
}

// serve is the recorder's control port.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + wire.RecorderPathLedger
}

func serveFile(t testing.TB, path string) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
}

// fill loads seeded rows and the rows of those of n writes that are in the table.
func fill(t testing.TB, s *enginetest.Server, n, seeds uint64, there func(uint64) bool) {
	t.Helper()
	name := fmt.Sprintf("users-%d", s.Port)
	driver.RegisterReaderHandler(name, func() io.Reader { return rowsText(n, seeds, there) })
	defer driver.DeregisterReaderHandler(name)
	_, err := s.DB(wire.AccountApp, wire.Database).Exec("LOAD DATA LOCAL INFILE 'Reader::" + name + "' INTO TABLE users (" + rowColumns + ")")
	must(t, err)
}

// rowsText is the text of the rows that fill loads. It is read to its end.
func rowsText(n, seeds uint64, there func(uint64) bool) io.Reader {
	r, w := io.Pipe()
	go func() {
		buffered := bytes.NewBuffer(nil)
		for id := uint64(1); id <= seeds+n; id++ {
			switch {
			case id <= seeds:
				buffered.WriteString(row(`\N`, id))
			case there(id - seeds):
				buffered.WriteString(row(fmt.Sprint(id-seeds), id))
			}
			if buffered.Len() > 1<<16 {
				_, _ = buffered.WriteTo(w)
			}
		}
		_, _ = buffered.WriteTo(w)
		_ = w.Close()
	}()
	return r
}

const rowColumns = "write_id, first_name, last_name, biography, city, password"

func row(writeID string, id uint64) string {
	return fmt.Sprintf("%s\tFirst%d\tLast%07d\tabout user %d, who likes long walks\tCity%d\t$2a$04$%s\n",
		writeID, id%100, id, id, id%1000, strings.Repeat("abcdefgh", 7)[:53])
}

// insert returns a statement for a row with a write id.
func insert(writeID string) string {
	return "INSERT INTO social.users (" + rowColumns + ") VALUES (" + writeID + ", 'a', 'b', '', '', 'c');"
}

func auditNode(s *enginetest.Server, role wire.Role) wire.AuditNode {
	e := s.Endpoint()
	return wire.AuditNode{Node: wire.Node{Name: s.Name, Host: fmt.Sprintf("%s:%d", e.Host, e.Port)}, Role: role}
}

func config(t testing.TB, ledgerURL string, nodes ...wire.AuditNode) wire.AuditConfig {
	return wire.AuditConfig{
		Engine: enginetest.Default.Engine, Ledger: ledgerURL, SecretDir: secrettest.SecretDir(t), Nodes: nodes,
		SeededUsers: seeded, ConnectTimeoutMilliseconds: 500,
	}
}

// audit performs an audit and returns the document that it published.
func audit(t testing.TB, cfg wire.AuditConfig) wire.AuditResult {
	t.Helper()
	var result wire.AuditResult
	published := 0
	must(t, perform(t.Context(), cfg, engines, func(_ context.Context, document string) error {
		published++
		d := json.NewDecoder(strings.NewReader(document))
		d.DisallowUnknownFields()
		return d.Decode(&result)
	}))
	if published != 1 || result.FinishedAt.IsZero() {
		t.Fatalf("published %d times, finished at %s", published, result.FinishedAt)
	}
	return result
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
