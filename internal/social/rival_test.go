package social

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
	"replab.dev/test/experiment"
	"replab.dev/test/freeport"
)

// rival is an engine's own tool with the app's INSERT, and the server that both work on.
type rival struct {
	engine, tool      string
	process           int // the server's first one
	endpoint          wire.Endpoint
	open              Open
	password, secrets string
	// command inserts rows for one turn. Their write ids lie above first, and at most idsOfTurn above.
	command func(first uint64) *exec.Cmd
	says    *regexp.Regexp // see told
	// count tells how many users the server has.
	count func() (int64, error)

	rows   int64         // that were made so far
	lastID atomic.Uint64 // of those of the app
	turns  uint64        // of the tool
}

const (
	idsOfTurn   = 1_000_000_000
	idsOfClient = idsOfTurn / 100 // of one of the tool's connections
)

// benchHash is as long as a password's hash is.
var benchHash = "$2a$04$" + strings.Repeat("abcdefgh", 7)[:53]

// turn has the tool insert rows.
func (r *rival) turn(t *testing.T) round {
	t.Helper()
	r.turns++
	cmd := r.command(r.turns * idsOfTurn)
	used := benchmark.TreeTime(t, r.process)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.tool, err, out)
	}
	used = benchmark.TreeTime(t, r.process) - used
	n, perSecond, err := told(r.says, out)
	if err != nil {
		t.Fatalf("%s: %v", r.tool, err)
	}
	r.rows += n
	return round{perSecond: perSecond, server: float64(used.Microseconds()) / float64(n)}
}

// checkRows fails the test where rows are missing. A tool may have made some that came too late for its count.
func (r *rival) checkRows(t *testing.T) {
	t.Helper()
	if n, err := r.count(); err != nil || n < r.rows {
		t.Errorf("the server has %d users of %d: %v", n, r.rows, err)
	}
}

// besidePgbench is PostgreSQL. Those who commit at the same time wait for each other's sake for as long as commit says.
func besidePgbench(t *testing.T, commit time.Duration) *rival {
	t.Helper()
	server := postgrestest.Start(t, "primary", postgrestest.Parameter("shared_buffers", "128MB"),
		postgrestest.Parameter("commit_delay", strconv.FormatInt(commit.Microseconds(), 10)), postgrestest.Parameter("commit_siblings", "0"))
	script := filepath.Join(server.Dir, "insert.sql")
	err := os.WriteFile(script, fmt.Appendf(nil, `\set n :n + 1
\set id :first + :client_id * %d + :n
INSERT INTO %s (write_id, first_name, last_name, birthdate, biography, city, password) VALUES (:id, %s) RETURNING id;
`, idsOfClient, wire.UsersTable, benchValues()), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	admin := server.Connect(wire.AccountAdmin, wire.Database)
	return &rival{
		engine: "PostgreSQL", tool: "pgbench", process: server.Process().Pid, endpoint: server.Endpoint(), open: Opens(postgres.NewStore),
		password: postgrestest.Password, secrets: secrettest.SecretDir(t),
		says: pgbenchSays,
		command: func(first uint64) *exec.Cmd {
			cmd := postgrestest.Command(t, "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(benchConnections), "-j", "2",
				"-T", strconv.Itoa(int(benchTurn.Seconds())), "-D", "n=0", "-D", fmt.Sprintf("first=%d", first), "-f", script)
			cmd.Env = append(cmd.Env, "PGHOST="+server.Endpoint().Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+wire.AccountApp,
				"PGPASSWORD="+postgrestest.Password, "PGDATABASE="+wire.Database)
			return cmd
		},
		count: func() (n int64, err error) {
			err = admin.QueryRow(t.Context(), "SELECT count(*) FROM "+wire.UsersTable).Scan(&n)
			return n, err
		},
	}
}

// besideSysbench is MySQL. Those who commit at the same time wait for each other's sake for as long as commit says.
func besideSysbench(t *testing.T, commit time.Duration) *rival {
	t.Helper()
	argv, environment := findSysbench(t)
	server := mysqltest.Start(t, "primary", mysqltest.Parameter("innodb-redo-log-capacity", "268435456"),
		mysqltest.Parameter("innodb-buffer-pool-size", "134217728"),
		mysqltest.Parameter("binlog_group_commit_sync_delay", strconv.FormatInt(commit.Microseconds(), 10)))
	server.Open()
	admin := server.DB(wire.AccountAdmin, wire.Database)
	folder := t.TempDir()
	return &rival{
		engine: "MySQL", tool: "sysbench", process: server.Process().Pid, endpoint: server.Endpoint(), open: Opens(mysql.NewStore),
		password: mysqltest.Password, secrets: secrettest.SecretDir(t),
		says: sysbenchSays,
		command: func(first uint64) *exec.Cmd {
			script := filepath.Join(folder, fmt.Sprintf("insert-%d.lua", first))
			if err := os.WriteFile(script, []byte(sysbenchScript(first)), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], "--db-driver=mysql", "--mysql-host="+server.Endpoint().Host,
				fmt.Sprintf("--mysql-port=%d", server.Port), "--mysql-user="+wire.AccountApp, "--mysql-password="+mysqltest.Password,
				"--mysql-db="+wire.Database, fmt.Sprintf("--threads=%d", benchConnections), fmt.Sprintf("--time=%d", int(benchTurn.Seconds())),
				"--events=0", script, "run")...)
			cmd.Env = append(os.Environ(), environment...)
			return cmd
		},
		count: func() (n int64, err error) {
			err = admin.QueryRow("SELECT COUNT(*) FROM " + wire.UsersTable).Scan(&n)
			return n, err
		},
	}
}

// sysbenchScript inserts as the app's store does, which sends whole statements.
func sysbenchScript(first uint64) string {
	return fmt.Sprintf(`function thread_init()
  con = sysbench.sql.driver():connect()
  id = %d + sysbench.tid * %d
end

function thread_done()
  con:disconnect()
end

function event()
  id = id + 1
  con:query(string.format("INSERT INTO %s (write_id, first_name, last_name, birthdate, biography, city, password) VALUES (%%.0f, %s)", id))
end
`, first, idsOfClient, wire.UsersTable, benchValues())
}

// benchValues are the columns of the user but for the write id.
func benchValues() string {
	return "'" + strings.Join([]string{benched.FirstName, benched.LastName, benched.Birthdate, benched.Biography, benched.City, benchHash}, "', '") + "'"
}

// findSysbench looks below .local, and on the machine, and tells what to add to the environment.
func findSysbench(t *testing.T) (argv, environment []string) {
	t.Helper()
	root := cmp.Or(os.Getenv("REPLAB_SYSBENCH_ROOTFS"), filepath.Join(experiment.Root(), ".local", "rootfs", "sysbench"))
	libraries, program := filepath.Join(root, "usr/lib/x86_64-linux-gnu"), filepath.Join(root, "usr/bin/sysbench")
	if _, err := os.Stat(program); err == nil {
		return []string{filepath.Join(libraries, "ld-linux-x86-64.so.2"), "--library-path", libraries, program},
			[]string{"MARIADB_PLUGIN_DIR=" + filepath.Join(libraries, "libmariadb3/plugin")}
	}
	path, err := exec.LookPath("sysbench")
	if err != nil {
		t.Fatal("no sysbench here: run `make bench-processes`, or install it")
	}
	return []string{path}, nil
}

// startAppProcess runs the app until the test ends, and returns where it listens.
func startAppProcess(t *testing.T, cfg wire.SocialConfig) (string, *os.Process) {
	t.Helper()
	cfg.Listen = freeport.Address(t)
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "social.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childApp+"="+file)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("the app ended: %v", err)
		}
	})
	ready := func() bool {
		r, err := http.Get("http://" + cfg.Listen + wire.SocialPathReady)
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	}
	for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatal("the app is not ready within a minute")
		}
	}
	return cfg.Listen, cmd.Process
}

// beApp is `replab social` with a configuration, and returns its exit code.
func beApp(file string) int {
	command := Command(engine.Lookup[Open]{"MySQL": Opens(mysql.NewStore), "PostgreSQL": Opens(postgres.NewStore)})
	command.SetArgs([]string{"--config", file})
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
