package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/lag"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// TestBenchLagProbe measures what the probe's polling costs with two standbys, at the interval of experiments that say nothing of it.
func TestBenchLagProbe(t *testing.T) {
	benchmark.Skip(t)
	const interval, watched = 200 * time.Millisecond, 30 * time.Second
	primary := postgrestest.Start(t, "a-db-0")
	all := []*postgrestest.Server{primary, primary.Standby("a-db-1"), primary.Standby("a-db-2")}
	var nodes []wire.Node
	for _, s := range all {
		nodes = append(nodes, wire.Node{Name: s.Name, Host: host(s)})
	}
	used := func() (each []time.Duration) {
		for _, s := range all {
			each = append(each, benchmark.ProcessorTime(t, s.Processes()...))
		}
		return append(each, benchmark.ProcessorTime(t, os.Getpid()))
	}
	since := func(from []time.Duration) (text string) {
		for i, now := range used() {
			name := "probe"
			if i < len(all) {
				name = all[i].Name
			}
			text += fmt.Sprintf(" %s %.2f%%", name, 100*float64(now-from[i])/float64(watched))
		}
		return text
	}
	idle := used()
	time.Sleep(watched)
	benchmark.Figure{What: "lag: processor time of a core without the probe, %", Measured: since(idle)}.Print()
	var ids atomic.Uint64
	p, err := lag.New(lag.Config{
		Open: lag.Opens(postgres.NewLag), Nodes: nodes, Writes: primary.Endpoint(), Secret: postgrestest.Password,
		Interval: interval, PayloadBytes: []int64{100}, ProbeIDs: func() uint64 { return ids.Add(1) }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for p.Result().Samples < 20 {
		time.Sleep(interval)
	}
	from := used()
	time.Sleep(watched)
	text := since(from)
	stop()
	<-done
	for _, n := range p.Result().Nodes[1:] {
		benchmark.Figure{
			What: "lag: bracket by lag, " + n.Name, Measured: fmt.Sprintf("bracket p50 %d µs, lag p50 %d µs, %d samples", *n.BracketP50Microseconds, *n.P50Microseconds, n.Samples),
			Value: float64(*n.BracketP50Microseconds) / float64(*n.P50Microseconds), Target: benchmark.AtMost(0.5),
		}.Print()
	}
	benchmark.Figure{What: "  processor time of a core with the probe, %", Measured: text}.Print()
}

// benchRows of users, REPLAB_BENCH_ROWS when that is set.
func benchRows(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv("REPLAB_BENCH_ROWS")
	if text == "" {
		return 1_000_000
	}
	rows, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestBenchReaderBesideCount measures reading all ids against COUNT(*) on the same table, in turns.
func TestBenchReaderBesideCount(t *testing.T) {
	benchmark.Skip(t)
	rows := benchRows(t)
	server := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("shared_buffers", "128MB"))
	server.Exec(fmt.Sprintf("INSERT INTO users (write_id, first_name, last_name, password) SELECT i, 'Ada', 'Stone' || i, repeat('x', 60) FROM generate_series(1, %d) i", rows))
	server.Exec("VACUUM (FREEZE, ANALYZE) users")
	r, err := postgres.OpenReader(t.Context(), host(server), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	timed := func(do func() (int64, error)) float64 {
		began := time.Now()
		if n, err := do(); err != nil || n != rows {
			t.Fatalf("%d rows: %v", n, err)
		}
		return time.Since(began).Seconds()
	}
	count := func() float64 {
		return timed(func() (int64, error) { return r.Count(t.Context(), wire.UsersTable) })
	}
	ids := func() float64 {
		return timed(func() (n int64, err error) {
			err = r.IDs(t.Context(), wire.UsersTable, "write_id", func(uint64, bool) error { n++; return nil })
			return n, err
		})
	}
	count()
	reads, counts := benchmark.Pairs(5, ids, count)
	seconds := func(s float64) float64 { return s }
	benchmark.OfPairs(fmt.Sprintf("PostgreSQL: ids of %d rows beside COUNT(*)", rows), benchmark.Both(reads, "ids", counts, "COUNT(*)", seconds, " s"),
		benchmark.Ratios(reads, counts, seconds), benchmark.AtMost(6)).Print()
}

// TestBenchLoaderBesideBareCopy measures the seeding's chunks against a COPY of the same rows by psql.
func TestBenchLoaderBesideBareCopy(t *testing.T) {
	benchmark.Skip(t)
	const chunk = 10_000
	rows := benchRows(t)
	server := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("shared_buffers", "128MB"))
	text := userLines(t, rows)
	l, err := postgres.NewLoader(server.Endpoint(), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	bare := bytes.Join(text, []byte("\thash\n"))
	timed := func(do func()) float64 {
		server.Exec("TRUNCATE users")
		began := time.Now()
		do()
		took := time.Since(began).Seconds()
		if n := one[int64](t, server, "SELECT count(*) FROM users"); n != rows {
			t.Fatalf("%d rows", n)
		}
		return float64(rows) / took
	}
	seeded, copied := benchmark.Pairs(3, func() float64 {
		return timed(func() {
			for from := int64(0); from < rows; from += chunk {
				to := min(from+chunk, rows)
				if err := l.Load(t.Context(), seededColumns, io.MultiReader(bytes.NewReader(bytes.Join(text[from:to], []byte("\n"))), strings.NewReader("\n")), to-from, "hash"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}, func() float64 {
		return timed(func() {
			psql := postgrestest.Command(t, "psql", "-X", "-q", "-c", "COPY users ("+seededColumns+", password) FROM STDIN")
			psql.Env = append(psql.Env, "PGHOST="+server.Endpoint().Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+wire.AccountApp, "PGPASSWORD="+postgrestest.Password, "PGDATABASE="+wire.Database)
			psql.Stdin = io.MultiReader(bytes.NewReader(bare), strings.NewReader("\thash\n"))
			if out, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		})
	})
	speed := func(s float64) float64 { return s }
	benchmark.OfPairs(fmt.Sprintf("PostgreSQL: load of %d users beside a bare COPY", rows), benchmark.Both(seeded, "load", copied, "bare", speed, "/s"),
		benchmark.Ratios(seeded, copied, speed), benchmark.AtLeast(0.5)).Print()
}

// userLines are the rows of users without their ends.
func userLines(t *testing.T, rows int64) [][]byte {
	t.Helper()
	users, err := dataset.New(1, "ru")
	if err != nil {
		t.Fatal(err)
	}
	lines := make([][]byte, rows)
	for i := range lines {
		u := users.User(int64(i) + 1)
		lines[i] = fmt.Appendf(nil, "%d\t%s\t%s\t%s\t%s\t%s", i+1, u.FirstName, u.LastName, u.Birthdate, u.Biography, u.City)
	}
	return lines
}

// TestBenchRegisterBesidePgbench measures the store's registrations against pgbench with the same statement and as many connections.
func TestBenchRegisterBesidePgbench(t *testing.T) {
	benchmark.Skip(t)
	const connections, lasts = 32, 5 * time.Second
	server := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("shared_buffers", "128MB"))
	server.Exec("CREATE SEQUENCE ids START 1000000000; GRANT USAGE ON ids TO " + wire.AccountApp)
	s := openStore(t, server, connections)
	var last atomic.Uint64
	register := func() float64 {
		ctx, stop := context.WithTimeout(t.Context(), lasts)
		defer stop()
		var group sync.WaitGroup
		var done atomic.Int64
		for range connections {
			group.Go(func() {
				for ctx.Err() == nil {
					id := last.Add(1)
					u := engine.NewUser{WriteID: &id, FirstName: "Ada", LastName: "Stone", Birthdate: "1990-01-01", Biography: "about", City: "Town", PasswordHash: []byte("hash")}
					if _, _, err := s.Register(context.WithoutCancel(ctx), u); err != nil {
						t.Error(err)
						return
					}
					done.Add(1)
				}
			})
		}
		group.Wait()
		return float64(done.Load()) / lasts.Seconds()
	}
	script := server.Dir + "/insert.sql"
	if err := os.WriteFile(script, []byte(`INSERT INTO users (write_id, first_name, last_name, birthdate, biography, city, password)
VALUES (nextval('ids'), 'Ada', 'Stone', '1990-01-01', 'about', 'Town', 'hash') RETURNING id;`), 0o644); err != nil {
		t.Fatal(err)
	}
	tps := regexp.MustCompile(`tps = ([0-9.]+)`)
	pgbench := func() float64 {
		cmd := postgrestest.Command(t, "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(connections), "-j", "2", "-T", strconv.Itoa(int(lasts.Seconds())), "-f", script)
		cmd.Env = append(cmd.Env, "PGHOST="+server.Endpoint().Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+wire.AccountApp, "PGPASSWORD="+postgrestest.Password, "PGDATABASE="+wire.Database)
		out, err := cmd.CombinedOutput()
		found := tps.FindSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("%v: %s", err, out)
		}
		rate, _ := strconv.ParseFloat(string(found[1]), 64)
		return rate
	}
	ours, theirs := benchmark.Pairs(3, register, pgbench)
	rate := func(s float64) float64 { return s }
	benchmark.OfPairs(fmt.Sprintf("PostgreSQL: register beside pgbench, %d connections", connections), benchmark.Both(ours, "register", theirs, "pgbench", rate, "/s"),
		benchmark.Ratios(ours, theirs, rate), benchmark.AtLeast(0.8)).Print()
}
