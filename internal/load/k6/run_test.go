package k6

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"replab.dev/internal/wire"
	"replab.dev/test/unit"
)

// binary finds a real k6: REPLAB_K6, .local/bin of this checkout, PATH. Without one the test is skipped, unless
// REPLAB_REQUIRE_K6 is set, as `make test` does.
func binary(t *testing.T) string {
	t.Helper()
	unit.Leave(t)
	_, file, _, _ := runtime.Caller(0)
	for _, path := range []string{os.Getenv("REPLAB_K6"), filepath.Join(filepath.Dir(file), "..", "..", "..", ".local", "bin", "k6")} {
		if _, err := os.Stat(path); path != "" && err == nil {
			return path
		}
	}
	if path, err := exec.LookPath("k6"); err == nil {
		return path
	}
	const message = "no k6 here: install it, compile it (`make local-bin`), or name one in REPLAB_K6"
	if os.Getenv("REPLAB_REQUIRE_K6") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// request is what the server was asked.
type request struct {
	method, path, query, body string
	header                    http.Header
	at                        time.Time
}

// target is an app that answers everything and writes down what it was asked.
type target struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	users    int
	delay    func(n int, r *http.Request) // before the answer to request n, from 0
	refuse   func(n int, r *http.Request) bool
	status   int
}

func startTarget(t *testing.T) *target {
	t.Helper()
	s := &target{users: 1_000_000, status: http.StatusOK, delay: func(int, *http.Request) {}, refuse: func(int, *http.Request) bool { return false }}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *target) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, request{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header, time.Now()})
	s.users++
	id := s.users
	s.mu.Unlock()
	s.delay(n, r)
	status := s.status
	if s.refuse(n, r) {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set(wire.HeaderUserID, strconv.Itoa(id))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(wire.RegisterResponse{UserID: strconv.Itoa(id)})
}

// seen returns what was asked so far.
func (s *target) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.requests...)
}

// k6Run is one k6 process.
type k6Run struct {
	t       *testing.T
	cmd     *exec.Cmd
	output  bytes.Buffer
	summary string // path
}

// start runs k6 with a script's text; the summary goes to a file.
func start(t *testing.T, s *target, script string, load any, args ...string) *k6Run {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.js")
	write(t, file, script)
	config, err := json.Marshal(load)
	if err != nil {
		t.Fatal(err)
	}
	r := &k6Run{t: t, summary: filepath.Join(dir, "termination-log")}
	// No address: the API server of k6 1 would take a port that other tests want.
	r.cmd = exec.Command(binary(t), append(append([]string{"run", "--quiet", "--no-usage-report", "--address="}, args...), file)...)
	r.cmd.Env = append(os.Environ(), wire.LoadEnv+"="+string(config), wire.URLEnv+"="+s.URL+"/", wire.SummaryEnv+"="+r.summary)
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

// wait returns k6's exit code and output.
func (r *k6Run) wait() (int, string) {
	r.t.Helper()
	var exit *exec.ExitError
	if err := r.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode(), r.output.String()
}

// succeed waits for exit code 0 and returns the summary and its text.
func (r *k6Run) succeed() (wire.K6Summary, string) {
	r.t.Helper()
	if code, output := r.wait(); code != 0 {
		r.t.Fatalf("k6 ended with %d:\n%s", code, output)
	}
	return r.read()
}

func (r *k6Run) read() (wire.K6Summary, string) {
	r.t.Helper()
	text, err := os.ReadFile(r.summary)
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := ParseSummary(text)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, text)
	}
	return s, string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// load returns a configuration of the given stages with every operation.
func load(stages ...wire.LoadStage) wire.LoadConfig {
	return wire.LoadConfig{
		Stages: stages, Mix: map[string]int{"register": 1, "profile": 1, "search": 1, "login": 1, "update": 1}, Users: 1000,
		Prefixes: [][2]string{{"Сер", "Виш"}, {"Ann", "O'Ne&l"}},
	}
}

func closed(name string, start, duration, users int64) wire.LoadStage {
	return wire.LoadStage{Name: name, StartSeconds: start, DurationSeconds: duration, Users: users}
}

func open(name string, start, duration, rate, maxUsers int64) wire.LoadStage {
	return wire.LoadStage{Name: name, StartSeconds: start, DurationSeconds: duration, RequestsPerSecond: rate, MaxUsers: maxUsers}
}
