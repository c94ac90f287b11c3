// Package familytest starts real servers of MySQL's family for tests, with the configuration and the accounts that replab's nodes
// have. It needs no container: it runs the server of an unpacked image (`make local-rootfs`) by its own dynamic linker, or
// the machine's. Each engine has a package that says how its servers are run and spoken to.
package familytest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
	"replab.dev/test/template"
)

// Password of every account of a test server.
const Password = secrettest.Password

// Server is a running server that ends with its test.
type Server struct {
	Flavor Flavor
	Name   string
	Port   int
	// CopyPort is where its start wrapper gives copies, 0 where servers copy by themselves.
	CopyPort int
	Dir      string // data in Dir/data
	Socket   string

	t          testing.TB
	argv       []string
	program    string // the server's binary
	parameters map[string]string
	cmd        *exec.Cmd
}

// patience with servers on a busy machine.
const patience = 5 * time.Minute

var nextID atomic.Int64

// ownPorts of a server: its own and, after it, that of its start wrapper.
const ownPorts = 2

// Need skips or fails a test that has no server of the flavor to run, as Start does. For those that start servers in goroutines, which
// may do neither.
func (f Flavor) Need(t testing.TB) {
	t.Helper()
	f.Binary(t)
}

// Start makes and starts a server and waits until it answers. It skips the test where none is to be had, unless
// REPLAB_REQUIRE_MYSQL is set, as `make test` does: then it fails.
func (f Flavor) Start(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	s := f.Prepare(t, name, opts...)
	s.argv = append(s.argv, fmt.Sprintf("--server-id=%d", 100+nextID.Add(1)))
	s.Initialize()
	s.Run()
	t.Cleanup(s.Kill)
	return s
}

// Prepare writes the configuration of a server and neither makes its data directory nor starts it: that is left to the
// caller, by Command.
func (f Flavor) Prepare(t testing.TB, name string, opts ...Option) *Server {
	t.Helper()
	argv, arguments := f.Binary(t)
	s := &Server{Flavor: f, Name: name, Port: freeport.Ports(t, ownPorts), Dir: t.TempDir(), t: t}
	// A unix socket's path must be short; test folders are not.
	short, err := os.MkdirTemp("", "my")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	settings := engine.Settings{Parameters: maps.Clone(f.Parameters)}
	for _, o := range opts {
		o(&settings)
	}
	program := f.Roles.Program(engine.Place{
		ConfigDir: s.Dir, DataDir: filepath.Join(s.Dir, "data"), RunDir: short, TmpDir: s.Dir, Port: s.Port,
	}, settings)
	s.Socket, s.CopyPort = program.Socket, program.CopyPort
	must(t, os.WriteFile(filepath.Join(s.Dir, program.ConfigFile), []byte(program.Config), 0o600))
	s.argv = slices.Concat(argv, program.Argv[1:], arguments, []string{"--user=" + user()})
	s.program, s.parameters = argv[len(argv)-1], settings.Parameters
	return s
}

// Command is the server's command line, and the name that its process has in /proc.
func (s *Server) Command() (argv []string, comm string) {
	return slices.Clone(s.argv), filepath.Base(s.argv[0])
}

// Initialize gives a server that was prepared its data directory: a copy of what a server with the same parameters has made.
func (s *Server) Initialize() {
	s.t.Helper()
	template.Copy(s.t, s.made(), s.data(), func(at string) {
		maker := s.Flavor.Prepare(s.t, "template", func(of *engine.Settings) { of.Parameters = maps.Clone(s.parameters) })
		file := filepath.Join(maker.Dir, "init.sql")
		how := maker.initialization(maker.argv, at, file)
		must(s.t, os.WriteFile(file, []byte(how.Script), 0o600))
		out, err := exec.Command(how.Argv[0], how.Argv[1:]...).CombinedOutput()
		if err != nil {
			s.t.Fatalf("initialize %s: %v\n%s", s.Name, err, out)
		}
		_ = os.Remove(filepath.Join(at, "auto.cnf")) // a MySQL server's identity: each copy makes its own
	})
}

func (s *Server) initialization(argv []string, dataDir, file string) engine.Initialization {
	s.t.Helper()
	how, err := s.Flavor.Roles.Initialization(argv, dataDir, file, func(string) (string, error) { return Password, nil })
	must(s.t, err)
	return how
}

// made is all that the content of the data directory depends on: the server's program, its parameters and its first statements.
func (s *Server) made() string {
	s.t.Helper()
	how := s.initialization([]string{s.program}, "", "")
	return fmt.Sprintln(s.Flavor.Engine, template.File(s.t, s.program), s.parameters, how.Argv, how.Script)
}

// Run starts the server's process, after Initialize or after Kill, and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	var log bytes.Buffer
	s.cmd = exec.Command(s.argv[0], s.argv[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() { // Pdeathsig follows the thread that forks: keep it
		runtime.LockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
		started <- fmt.Errorf("server ended:\n%s", log.String())
	}()
	must(s.t, <-started)
	db := s.DB(wire.AccountAdmin, "")
	defer db.Close()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if db.Ping() == nil {
			return
		}
		select {
		case err := <-started:
			s.t.Fatalf("start %s: %v", s.Name, err)
		case <-time.After(50 * time.Millisecond): // between two tries
		}
	}
	s.t.Fatalf("start %s: no answer within %s", s.Name, patience)
}

// Process returns the server's process, for signals.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Kill ends the server with SIGKILL; what it had not flushed is lost.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return // it was never started
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	if !s.ended(patience) {
		s.t.Errorf("%s does not end within %s of SIGKILL", s.Name, patience) // Run could not follow: its port is not free
	}
}

// ended waits until the server's process is gone.
func (s *Server) ended(within time.Duration) bool {
	for deadline := time.Now().Add(within); s.cmd.Process.Signal(syscall.Signal(0)) == nil; time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Endpoint is where the server listens.
func (s *Server) Endpoint() wire.Endpoint {
	return wire.Endpoint{Host: "127.0.0.1", Port: s.Port}
}

// DB opens a pool for an account; database may be empty. It is closed with the test.
func (s *Server) DB(account, database string) *sql.DB {
	s.t.Helper()
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = account, Password, "tcp", fmt.Sprintf("127.0.0.1:%d", s.Port), database
	c.MultiStatements = true
	conn, err := driver.NewConnector(c)
	must(s.t, err)
	db := sql.OpenDB(conn)
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

// Open makes the server writable, as the director does with a primary.
func (s *Server) Open() {
	s.t.Helper()
	s.Exec(s.Flavor.OpenSQL)
}

// Replicate makes the server a replica of source.
func (s *Server) Replicate(source *Server) {
	s.t.Helper()
	s.Exec(s.Flavor.ReplicateSQL(source.Port))
}

// CatchUp waits until the server has executed everything that source has.
func (s *Server) CatchUp(source *Server) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var set string
	must(s.t, source.DB(wire.AccountAdmin, "").QueryRowContext(ctx, s.Flavor.ExecutedSQL).Scan(&set))
	var timedOut int
	must(s.t, s.DB(wire.AccountAdmin, "").QueryRowContext(ctx, s.Flavor.CatchUpSQL, set).Scan(&timedOut))
	if timedOut != 0 {
		s.t.Fatalf("%s did not catch up with %s", s.Name, source.Name)
	}
}

// Exec runs statements as the administrator and fails the test on an error.
func (s *Server) Exec(statements string) {
	s.t.Helper()
	_, err := s.DB(wire.AccountAdmin, "").Exec(statements)
	must(s.t, err)
}

func user() string {
	if os.Getuid() == 0 {
		return "root"
	}
	return os.Getenv("USER")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
