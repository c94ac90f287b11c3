package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

const (
	benchRowsEnv = "REPLAB_BENCH_ROWS"        // rows of the table to measure on, 10000000 by default
	childEnv     = "REPLAB_AUDIT_TEST_CONFIG" // the process is an audit with this configuration, see TestMain
)

func TestMain(m *testing.M) {
	path := os.Getenv(childEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	var cfg wire.AuditConfig
	err := process.LoadConfig(path, &cfg)
	if err == nil {
		err = perform(context.Background(), cfg, engines, func(_ context.Context, document string) error {
			_, err := fmt.Println(document)
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// benched is a node whose table holds the fixture's writes, and how to count its rows.
type benched struct {
	node    wire.AuditNode
	secrets string
	count   func() (rows int64, err error)
}

// TestBenchAuditBesideCount measures the audit, in a process of its own, against COUNT(*) on the same table, in turns.
// It asserts what the audit finds, and prints the figures.
func TestBenchAuditBesideCount(t *testing.T) {
	benchmark.Skip(t)
	rows, err := strconv.ParseUint(cmp.Or(os.Getenv(benchRowsEnv), "10000000"), 10, 64)
	must(t, err)
	sent := rows / 4 * 5 // four of five writes are in the table, see inTable
	ledgerURL := serveFile(t, writeLedger(t, sent))
	for _, c := range []struct {
		engine string
		start  func(*testing.T, uint64) benched
	}{{"MySQL", benchedMySQL}, {"PostgreSQL", benchedPostgreSQL}} {
		t.Run(c.engine, func(t *testing.T) {
			b := c.start(t, sent)
			cfg := config(t, ledgerURL, b.node)
			cfg.Engine, cfg.SecretDir, cfg.ConnectTimeoutMilliseconds = c.engine, b.secrets, 10_000
			besideCount(t, cfg, b, fmt.Sprintf("audit of %d rows beside COUNT(*), %s", rows, c.engine))
		})
	}
}

func besideCount(t *testing.T, cfg wire.AuditConfig, b benched, what string) {
	t.Helper()
	var n, peakKiB int64
	count := func() float64 {
		begin := time.Now()
		var err error
		n, err = b.count()
		must(t, err)
		return time.Since(begin).Seconds()
	}
	count() // warm-up
	audits, counts := benchmark.Pairs(5, func() float64 {
		took, kib := auditInChild(t, cfg, n)
		peakKiB = max(peakKiB, kib)
		return took.Seconds()
	}, count)
	seconds := func(s float64) float64 { return s }
	benchmark.OfPairs(what, benchmark.Both(audits, "audit", counts, "COUNT(*)", seconds, " s"),
		benchmark.Ratios(audits, counts, seconds), benchmark.AtMost(6)).Print()
	benchmark.Figure{What: "  peak memory of the audit", Value: float64(peakKiB) / 1024, Unit: "MiB", Target: benchmark.AtMost(128)}.Print()
}

func benchedMySQL(t *testing.T, sent uint64) benched {
	t.Helper()
	node := mysqltest.Start(t, "node", mysqltest.Parameter("innodb-buffer-pool-size", "134217728"),
		mysqltest.Parameter("innodb-redo-log-capacity", "1073741824"), mysqltest.Parameter("disable-log-bin", "1"))
	node.Open()
	fill(t, node, sent, seeded, inTable)
	db := node.DB(wire.AccountProbe, wire.Database)
	return benched{auditNode(node, wire.RoleWriter), secrettest.SecretDir(t), func() (n int64, err error) {
		err = db.QueryRow("SELECT COUNT(*) FROM users").Scan(&n)
		return n, err
	}}
}

// benchedPostgreSQL cleans the table up, as the seeding does: a count is then as quick as it can be.
func benchedPostgreSQL(t *testing.T, sent uint64) benched {
	t.Helper()
	server := postgrestest.Start(t, "node", postgrestest.Parameter("shared_buffers", "128MB"))
	app := server.Connect(wire.AccountApp, wire.Database).PgConn()
	_, err := app.CopyFrom(t.Context(), rowsText(sent, seeded, inTable), "COPY "+wire.UsersTable+" ("+rowColumns+") FROM STDIN")
	must(t, err)
	server.Exec("VACUUM (FREEZE, ANALYZE) " + wire.UsersTable)
	node := wire.AuditNode{Node: wire.Node{Name: server.Name, Host: fmt.Sprintf("%s:%d", server.Endpoint().Host, server.Port)}, Role: wire.RoleWriter}
	probe := server.Connect(wire.AccountProbe, wire.Database)
	return benched{node, secrettest.SecretDir(t), func() (n int64, err error) {
		err = probe.QueryRow(t.Context(), "SELECT count(*) FROM "+wire.UsersTable).Scan(&n)
		return n, err
	}}
}

// auditInChild returns the wall time and the peak memory of a whole audit process.
func auditInChild(t *testing.T, cfg wire.AuditConfig, rows int64) (time.Duration, int64) {
	t.Helper()
	text, err := json.Marshal(cfg)
	must(t, err)
	path := filepath.Join(t.TempDir(), "audit.json")
	must(t, os.WriteFile(path, text, 0o600))
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	begin := time.Now()
	out, err := cmd.Output()
	took := time.Since(begin)
	must(t, err)
	var result wire.AuditResult
	must(t, json.Unmarshal(out, &result))
	if w := result.Writes; w == nil || w.Lost != 0 || w.Present != rows-seeded || !w.Balanced {
		t.Fatalf("the audit of %d rows found %s", rows, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no resource usage of the child")
	}
	return took, usage.Maxrss
}
