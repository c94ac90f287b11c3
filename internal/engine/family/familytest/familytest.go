// Package familytest starts real servers of MySQL's family for tests, with the configuration and the accounts that replab's nodes
// have. It needs no container: it runs the server of an unpacked image (`make lab-rootfs`) by its own dynamic linker, or
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
	"replab.dev/internal/engine/family"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
)

// Password of every account of a test server.
const Password = "test-secret"

// Flavor is an engine's own part.
type Flavor struct {
	Engine      string // its name in spec.topology.engine
	Roles       Roles
	OpenAdmin   engine.OpenAdmin
	NewStore    func(wire.SocialConfig, string) (*family.Store, error)
	NewLoader   func(wire.Endpoint, string) (*family.Loader, error)
	NewCounters func(host, password string) (*family.Counters, error)
	// Binary is how to run the server, without its defaults file, and the arguments that must follow that.
	Binary func(testing.TB) (argv, arguments []string)
	// Parameters make a server small.
	Parameters map[string]string
	OpenSQL    string // makes the server writable
	CloseSQL   string // makes it read-only
	ClosedSQL  string // a query that tells 1 while it is
	// ClosedToAdmin tells that a read-only server takes no writes of the administrator either.
	ClosedToAdmin bool
	AwaitSQL      string // makes commits wait for replicas
	AwaitsSQL     string // a query that tells 1 while they do
	// ReceiverSQL tells ON or Yes while a replica's source is connected.
	ReceiverSQL string
	// CopiesItself tells that a server can be made a copy of another without its start wrapper.
	CopiesItself bool
	// SourceSQL counts the servers that it is configured to replicate from.
	SourceSQL string
	// ReplicateSQL makes it a replica of the server at a port of this machine.
	ReplicateSQL func(port int) string
	ExecutedSQL  string // a query that tells what a server has executed
	CatchUpSQL   string // a query that waits up to 50 s until the text of ExecutedSQL is executed, and tells 0 then
	// SubtractSQL tells what of such a text a server has not executed; "" where servers cannot subtract.
	SubtractSQL string
	LockWaitSQL string // counts who waits for a lock
	// DelaySQL has a replica that does not apply be at least a second late once it does.
	DelaySQL string
	// MeasuresLag tells that a replica measures itself how late it is.
	MeasuresLag bool
	// FlushTogether has several commits flushed at once. EachWaits tells that each then waits for replicas by itself.
	FlushTogether []Option
	EachWaits     bool
	// AlwaysCounts tells that a server has counters of commits whatever it was started for.
	AlwaysCounts bool
	// MemberLines are what a member of a group needs beside what its own configuration file has, to be at an address of this machine
	// that others use too; config is what all members have. See StartGroup.
	MemberLines func(t testing.TB, address, config string) []string
}

// Roles of an engine, which know how its servers are started and how they are known.
type Roles interface {
	engine.Server
	engine.Starter
	engine.Local
}

// Server is a running server that ends with its test.
type Server struct {
	Flavor Flavor
	Name   string
	Port   int
	// CopyPort is where its start wrapper gives copies, 0 where servers copy by themselves.
	CopyPort int
	Dir      string // data in Dir/data
	Socket   string

	t    testing.TB
	argv []string
	cmd  *exec.Cmd
}

// Option changes the configuration of a server.
type Option func(*engine.Settings)

// SemiSync has commits that can wait for replicas.
func SemiSync(ackReplicas int, timeout time.Duration) Option {
	return func(s *engine.Settings) {
		s.SemiSync = &engine.SemiSync{AckReplicas: ackReplicas, TimeoutMilliseconds: timeout.Milliseconds()}
	}
}

// Parameter sets a server variable.
func Parameter(name, value string) Option {
	return func(s *engine.Settings) { s.Parameters[name] = value }
}

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
	s.initialize()
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
	return s
}

// Command is the server's command line, and the name that its process has in /proc.
func (s *Server) Command() (argv []string, comm string) {
	return slices.Clone(s.argv), filepath.Base(s.argv[0])
}

func (s *Server) initialize() {
	file := filepath.Join(s.Dir, "init.sql")
	how, err := s.Flavor.Roles.Initialization(s.argv, filepath.Join(s.Dir, "data"), file, func(string) (string, error) { return Password, nil })
	must(s.t, err)
	must(s.t, os.WriteFile(file, []byte(how.Script), 0o600))
	out, err := exec.Command(how.Argv[0], how.Argv[1:]...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("initialize %s: %v\n%s", s.Name, err, out)
	}
}

// Run starts the server's process, after Start or after Kill, and waits until it answers.
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
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if db.Ping() == nil {
			return
		}
		select {
		case err := <-started:
			s.t.Fatalf("start %s: %v", s.Name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.t.Fatalf("start %s: no answer within a minute", s.Name)
}

// Process returns the server's process, for signals.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Kill ends the server with SIGKILL; what it had not flushed is lost.
func (s *Server) Kill() {
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	for range 200 { // until the port is free, so that Run can follow
		if s.cmd.Process.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
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

// SecretDir writes the accounts' password files and a token into a folder and returns it.
func SecretDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, account := range wire.Accounts() {
		must(t, os.WriteFile(filepath.Join(dir, account), []byte(Password), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, wire.AgentTokenFile), []byte("test-token"), 0o600))
	return dir
}

// Rootfs is where an image is unpacked: what a variable of the environment says, else .lab/rootfs/NAME of this checkout; "" when
// there is none.
func Rootfs(variable, name string) string {
	_, file, _, _ := runtime.Caller(0)
	for _, root := range []string{os.Getenv(variable), filepath.Join(filepath.Dir(file), "..", "..", "..", "..", ".lab", "rootfs", name)} {
		if _, err := os.Stat(Linker(root)); root != "" && err == nil {
			return root
		}
	}
	return ""
}

// Linker is the dynamic linker of an unpacked image. The machine's may be too old for its programs.
func Linker(root string) string { return filepath.Join(root, "lib64", "ld-linux-x86-64.so.2") }

// Linked is how to run a program of an unpacked image.
func Linked(root, program string) []string {
	return []string{Linker(root), "--library-path", filepath.Join(root, "usr/lib/x86_64-linux-gnu"), filepath.Join(root, program)}
}

// Missing ends a test that has no server to run.
func Missing(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("REPLAB_REQUIRE_MYSQL") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
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
