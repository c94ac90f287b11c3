// Package postgrestest starts real PostgreSQL servers for tests, with the configuration, the accounts and the tables that replab's nodes
// have, and without Patroni. It needs no container: it runs the servers of an unpacked image (`make local-rootfs`), or the machine's.
package postgrestest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
	"replab.dev/test/template"
)

// Password of every account of a test server.
const Password = secrettest.Password

// patience with servers on a busy machine.
const patience = 5 * time.Minute

// Host is where all servers listen, each at a port of its own.
const Host = "127.0.0.1"

// Server is a running server that ends with its test.
type Server struct {
	Name   string // of its node, and of the standby to its primary
	Port   int
	Dir    string // data in Dir/data
	Socket string

	t      testing.TB
	lines  []string // of its configuration, beside what a copy brings
	cmd    *exec.Cmd
	ended  chan struct{}
	output *bytes.Buffer // to be read once ended
}

// Option changes the configuration of a server.
type Option func(*engine.Settings)

// Parameter sets a server's setting.
func Parameter(name, value string) Option {
	return func(s *engine.Settings) { s.Parameters[name] = value }
}

// small are settings that make a server small.
var small = map[string]string{"shared_buffers": "32MB", "max_connections": "100"}

// Start makes and starts a server that takes writes and waits until it answers.
func Start(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	Need(t)
	s := prepare(t, name, opts)
	template.Copy(t, made(t), s.Data(), func(at string) {
		maker := prepare(t, "template", nil)
		maker.initialize()
		maker.Run()
		defer maker.Kill()
		maker.Exec(fmt.Sprintf("CREATE ROLE %s LOGIN REPLICATION PASSWORD '%s'", wire.AccountReplication, Password))
		maker.AddAccounts()
		maker.Stop()
		template.Duplicate(t, maker.Data(), at)
	})
	s.Run()
	t.Cleanup(s.Kill)
	return s
}

// made is all that the content of a new data directory depends on: the programs, the options of initdb and the first statements.
func made(t testing.TB) string {
	t.Helper()
	first, err := postgres.FirstStatements(func(string) (string, error) { return Password, nil })
	must(t, err)
	return fmt.Sprintln("PostgreSQL", template.File(t, filepath.Join(root()+cmp.Or(installed(), binaries), "postgres")),
		postgres.InitOptions(), postgres.AccessRules(wire.AccountReplication), first, user)
}

// Standby makes and starts a copy of the server that streams from it, and waits until it does. It is known to it by its name.
func (s *Server) Standby(name string, opts ...Option) *Server {
	s.t.Helper()
	standby := prepare(s.t, name, opts)
	source := fmt.Sprintf("host=%s port=%d user=%s password=%s application_name=%s", Host, s.Port, wire.AccountReplication, Password, name)
	run(s.t, Command(s.t, "pg_basebackup", "--dbname="+source, "--pgdata="+standby.Data(), "--checkpoint=fast", "--write-recovery-conf", "--no-sync"))
	standby.Run()
	s.t.Cleanup(standby.Kill)
	standby.await("it streams from "+s.Name, "SELECT count(*) = 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'")
	return standby
}

func prepare(t testing.TB, name string, opts []Option) *Server {
	t.Helper()
	s := &Server{Name: name, Port: freeport.Ports(t, 1), Dir: Dir(t), t: t}
	s.Socket = postgres.Socket(s.Dir, s.Port)
	settings := engine.Settings{Parameters: maps.Clone(small)}
	for _, o := range opts {
		o(&settings)
	}
	parameters := postgres.Parameters(settings)
	maps.Copy(parameters, postgres.OwnParameters(name, s.Dir))
	parameters["listen_addresses"], parameters["port"] = Host, fmt.Sprint(s.Port)
	for _, parameter := range slices.Sorted(maps.Keys(parameters)) {
		s.lines = append(s.lines, fmt.Sprintf("%s = '%s'", parameter, strings.ReplaceAll(parameters[parameter], "'", "''")))
	}
	return s
}

// Data is the server's data directory.
func (s *Server) Data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) initialize() {
	s.t.Helper()
	secret := s.write("password", Password)
	options := []string{"--pgdata=" + s.Data(), "--username=" + wire.AccountAdmin, "--pwfile=" + secret, "--no-sync"}
	for _, o := range postgres.InitOptions() {
		options = append(options, strings.TrimSuffix("--"+o.Name+"="+o.Value, "="))
	}
	run(s.t, Command(s.t, "initdb", options...))
	s.write("data/pg_hba.conf", strings.Join(postgres.AccessRules(wire.AccountReplication), "\n")+"\n")
}

// AddAccounts does what Patroni does with a server that it has made. A server that was started has these accounts and tables.
func (s *Server) AddAccounts() {
	s.t.Helper()
	first, err := postgres.FirstStatements(func(string) (string, error) { return Password, nil })
	must(s.t, err)
	connection := fmt.Sprintf("host=%s port=%d user=%s dbname=postgres", s.Dir, s.Port, wire.AccountAdmin)
	run(s.t, Command(s.t, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", connection, "-f", s.write("first.sql", first)))
}

// write makes a file of the server's user in its folder and returns its path.
func (s *Server) write(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.Dir, name)
	must(s.t, os.WriteFile(path, []byte(content), 0o600))
	Own(s.t, path)
	return path
}

// Run starts the server's process, after Kill or Stop, with its own configuration and these lines of more, which win, and waits until it
// answers.
func (s *Server) Run(lines ...string) {
	s.t.Helper()
	s.write("data/postgresql.conf", strings.Join(append(slices.Clone(s.lines), lines...), "\n")+"\n")
	s.output, s.ended = &bytes.Buffer{}, make(chan struct{})
	s.cmd = Command(s.t, "postgres", "-D", s.Data())
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	started := make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan struct{}) { // it goes with the thread that forks: keep that
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}(s.cmd, s.ended)
	must(s.t, <-started)
	s.awaitAnswer()
}

func (s *Server) awaitAnswer() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		select {
		case <-s.ended:
			s.t.Fatalf("%s ended:\n%s", s.Name, s.output)
		case <-time.After(20 * time.Millisecond):
		}
		conn, err := s.dial(wire.AccountAdmin, "postgres")
		if err == nil {
			_ = conn.Close(context.Background())
			return
		}
	}
	s.t.Fatalf("start %s: no answer within %s", s.Name, patience)
}

// Stop ends the server in good order, without waiting for its clients.
func (s *Server) Stop() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("%s does not end within %s", s.Name, patience)
	}
}

// Log is what the server has written since it was started last. It waits until it has ended: see Kill and Stop.
func (s *Server) Log() string {
	<-s.ended
	return s.output.String()
}

// Promote has a standby take writes and waits until it does.
func (s *Server) Promote() {
	s.t.Helper()
	s.Exec("SELECT pg_promote()")
	s.await("it takes writes", "SELECT NOT pg_is_in_recovery()")
}

// CatchUp waits until the server has applied everything that source has.
func (s *Server) CatchUp(source *Server) {
	s.t.Helper()
	var position string
	must(s.t, source.Connect(wire.AccountAdmin, "postgres").QueryRow(context.Background(), "SELECT pg_current_wal_flush_lsn()::text").Scan(&position))
	s.await("it has applied "+position, "SELECT pg_last_wal_replay_lsn() >= '"+position+"'")
}

// await waits until a query tells true.
func (s *Server) await(what, query string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn := s.Connect(wire.AccountAdmin, "postgres")
	for ctx.Err() == nil {
		var is *bool
		if err := conn.QueryRow(ctx, query).Scan(&is); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			s.t.Fatalf("%s: %v", s.Name, err)
		}
		if is != nil && *is {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s: waited %s until %s", s.Name, patience, what)
}

// Endpoint is where the server listens.
func (s *Server) Endpoint() wire.Endpoint { return wire.Endpoint{Host: Host, Port: s.Port} }

// Connect opens a connection for an account to a database. It is closed with the test.
func (s *Server) Connect(account, database string) *pgx.Conn {
	s.t.Helper()
	conn, err := s.dial(account, database)
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (s *Server) dial(account, database string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return pgx.Connect(ctx, fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable", Host, s.Port, account, Password, database))
}

// Exec runs statements as the administrator in the app's database, if there is one yet, and fails the test on an error.
func (s *Server) Exec(statements string) {
	s.t.Helper()
	conn, err := s.dial(wire.AccountAdmin, wire.Database)
	if err != nil {
		conn, err = s.dial(wire.AccountAdmin, "postgres")
	}
	must(s.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.PgConn().Exec(context.Background(), statements).ReadAll()
	must(s.t, err)
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
