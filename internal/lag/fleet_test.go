package lag

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// fleet is servers of one engine, as benches ask them: all follow the first.
type fleet struct {
	engine    string
	open      Open
	writes    wire.Endpoint
	nodes     []wire.Node
	writer    *sql.DB // the app's, on the first
	processes []int   // the first one of each server
	// asked tells how many statements a server has executed so far.
	asked func(t *testing.T, server int) int64
	// catchUp returns once all have what the first has.
	catchUp func()
}

// fleetOf makes one.
type fleetOf func(t *testing.T, names ...string) *fleet

// eachFleet runs a bench with MySQL and with PostgreSQL.
func eachFleet(t *testing.T, bench func(*testing.T, fleetOf)) {
	benchmark.Skip(t)
	t.Run("MySQL", func(t *testing.T) { bench(t, fleetOfMySQL) })
	t.Run("PostgreSQL", func(t *testing.T) { bench(t, fleetOfPostgreSQL) })
}

// configure returns a probe's configuration for all.
func (f *fleet) configure(t *testing.T) Config {
	t.Helper()
	c := configure(t, f.writes)
	c.Open, c.Nodes = f.open, f.nodes
	return c
}

// processorTime is what the servers and this process, with the probe and the load's clients, have used.
func (f *fleet) processorTime(t *testing.T) time.Duration {
	t.Helper()
	total := benchmark.ProcessorTime(t, os.Getpid())
	for _, pid := range f.processes {
		total += benchmark.TreeTime(t, pid)
	}
	return total
}

func fleetOfMySQL(t *testing.T, names ...string) *fleet {
	t.Helper()
	servers := follow(t, names...)
	c := configure(t, servers[0].Endpoint(), servers...)
	f := &fleet{
		engine: "MySQL", open: c.Open, writes: c.Writes, nodes: c.Nodes, writer: servers[0].DB(wire.AccountApp, wire.Database),
		asked: func(t *testing.T, server int) int64 { return questions(t, servers[server]) },
		catchUp: func() {
			for _, s := range servers[1:] {
				s.CatchUp(servers[0])
			}
		},
	}
	for _, s := range servers {
		f.processes = append(f.processes, s.Process().Pid)
	}
	return f
}

func questions(t *testing.T, s *enginetest.Server) (n int64) {
	t.Helper()
	var name string
	if err := s.DB(wire.AccountAdmin, "").QueryRow("SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func fleetOfPostgreSQL(t *testing.T, names ...string) *fleet {
	t.Helper()
	size := postgrestest.Parameter("shared_buffers", "64MB") // as much as MySQL's
	primary := postgrestest.Start(t, names[0], size)
	servers := []*postgrestest.Server{primary}
	for _, name := range names[1:] {
		servers = append(servers, primary.Standby(name, size))
	}
	f := &fleet{
		engine: "PostgreSQL", open: Opens(postgres.NewLag), writes: primary.Endpoint(), writer: appOf(t, primary),
		asked: func(t *testing.T, server int) int64 { return transactions(t, servers[server]) },
		catchUp: func() {
			for _, s := range servers[1:] {
				s.CatchUp(primary)
			}
		},
	}
	for _, s := range servers {
		f.nodes = append(f.nodes, wire.Node{Name: s.Name, Host: fmt.Sprintf("%s:%d", s.Endpoint().Host, s.Port)})
		f.processes = append(f.processes, s.Process().Pid)
	}
	return f
}

// appOf is a pool of the app's account.
func appOf(t *testing.T, s *postgrestest.Server) *sql.DB {
	t.Helper()
	c, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable", s.Endpoint().Host, s.Port,
		wire.AccountApp, postgrestest.Password, wire.Database))
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// transactions are the statements of sessions that begin none by themselves. A session tells of them a second later at the latest, while
// it has something to do.
func transactions(t *testing.T, s *postgrestest.Server) (n int64) {
	t.Helper()
	conn := s.Connect(wire.AccountAdmin, "postgres")
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), "SELECT sum(xact_commit)::bigint FROM pg_stat_database").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
