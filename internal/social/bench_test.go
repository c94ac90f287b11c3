package social

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/password"
	"replab.dev/internal/percentile"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

const (
	benchConnections = 8
	// benchUsers are more than the connections, which so are always at work, as those of the tools are: while some requests wait for the
	// server others are read, hashed and answered.
	benchUsers = 4 * benchConnections
	benchPairs = 7
	benchTurn  = 3 * time.Second
	// slowCommit is what a durable commit takes on a common disk.
	slowCommit = 10 * time.Millisecond
)

// benched is the user whom all register.
var benched = wire.RegisterRequest{FirstName: "Ada", LastName: "Stone", Birthdate: "1990-01-01", Biography: "about", City: "Town", Password: "secret"}

// TestBenchRegister has the app, in a process of its own, and the engine's own tool take turns on one server: the same INSERT, by as many
// connections. A register beside it is a request that is read and answered, and a password that is hashed: where all share the
// processors, and these are the limit, that is the difference, and the lines below say how much it is. Where commits take their time
// the connections are the limit. It asserts that the rows are there.
func TestBenchRegister(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name   string
		start  func(*testing.T, time.Duration) *rival
		commit time.Duration // what a commit takes longer than it must
		target float64
	}{
		{"PostgreSQL", besidePgbench, 0, 0.3},
		{"PostgreSQL, commits of 10 ms", besidePgbench, slowCommit, 0.8},
		{"MySQL", besideSysbench, 0, 0.3},
		{"MySQL, commits of 10 ms", besideSysbench, slowCommit, 0.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.start(t, c.commit)
			tool := func() round { return r.turn(t) }
			app := r.throughApp(t)
			app()
			tool()
			ours, theirs := benchmark.Pairs(benchPairs, app, tool)
			report(fmt.Sprintf("register beside %s: %s", r.tool, c.name), r.tool, ours, theirs, c.target)
			var own []float64
			for _, o := range ours {
				own = append(own, o.app)
			}
			benchmark.Figure{What: "  the app's processor time for one", Value: percentile.Median(own), Unit: "µs"}.Print()
			benchmark.Figure{What: "  of it the hash of the password", Value: hashing(t), Unit: "µs"}.Print()
			if c.commit == 0 {
				store := r.throughStore(t)
				store()
				stores, tools := benchmark.Pairs(benchPairs, store, tool)
				report("  the app's store alone, beside "+r.tool, r.tool, stores, tools, 0.8)
			}
			r.checkRows(t)
		})
	}
}

// report prints two lines: the throughput, and the server's processor time.
func report(what, tool string, ours, theirs []round, atLeast float64) {
	rate, server := func(r round) float64 { return r.perSecond }, func(r round) float64 { return r.server }
	measured := fmt.Sprintf("%s, %d connections", benchmark.Both(ours, "registered", theirs, tool, rate, "/s"), benchConnections)
	benchmark.OfPairs(what, measured, benchmark.Ratios(ours, theirs, rate), benchmark.AtLeast(atLeast)).Print()
	benchmark.OfPairs("  by the server's processor time", benchmark.Both(ours, "registered", theirs, tool, server, " µs"),
		benchmark.Ratios(theirs, ours, server), benchmark.Target{}).Print()
}

// round is what was found in one turn.
type round struct {
	perSecond float64
	server    float64 // its processor time for one, in microseconds
	app       float64 // the app's, where it is in a process of its own
}

// throughApp starts the app and returns its turn.
func (r *rival) throughApp(t *testing.T) func() round {
	t.Helper()
	address, app := startAppProcess(t, r.config(t))
	client := upstream.New(address)
	body, err := json.Marshal(benched)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return func() round {
		before := benchmark.ProcessorTime(t, app.Pid)
		found, n := r.registered(t, benchUsers, func(id uint64) error {
			answer, err := client.Do(&upstream.Request{
				Method: http.MethodPost, Target: wire.SocialPathRegister, Header: header, Body: body,
				ExtraName: wire.HeaderWriteID, ExtraValue: strconv.FormatUint(id, 10),
			}, time.Minute)
			if err == nil && answer.Status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", answer.Status, answer.Body)
			}
			return err
		})
		found.app = float64((benchmark.ProcessorTime(t, app.Pid) - before).Microseconds()) / float64(n)
		return found
	}
}

// throughStore returns a turn without the app's HTTP and hash, in this process.
func (r *rival) throughStore(t *testing.T) func() round {
	t.Helper()
	store, err := r.open(r.config(t), r.password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return func() round {
		found, _ := r.registered(t, benchConnections, func(id uint64) error {
			_, _, err := store.Register(context.Background(), engine.NewUser{
				WriteID: &id, FirstName: benched.FirstName, LastName: benched.LastName, Birthdate: benched.Birthdate, Biography: benched.Biography,
				City: benched.City, PasswordHash: []byte(benchHash),
			})
			return err
		})
		return found
	}
}

// config is the app's before the rival's server.
func (r *rival) config(t *testing.T) wire.SocialConfig {
	t.Helper()
	return wire.SocialConfig{
		Engine: r.engine, Writes: r.endpoint, Reads: r.endpoint, SecretDir: r.secrets, PasswordHash: v1alpha1.PasswordSHA256,
		MaxConnections: benchConnections, MaxInFlight: 1024, RequestTimeoutMilliseconds: 20_000,
	}
}

// registered has users register one after the other each, until the turn is over, and returns also how many that were.
func (r *rival) registered(t *testing.T, users int, register func(id uint64) error) (round, int64) {
	t.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	used, began := benchmark.TreeTime(t, r.process), time.Now()
	for range users {
		group.Go(func() {
			for time.Since(began) < benchTurn {
				if err := register(r.lastID.Add(1)); err != nil {
					t.Errorf("register: %v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	took, n := time.Since(began), done.Load()
	if n == 0 {
		t.Fatal("nobody was registered")
	}
	r.rows += n
	return round{
		perSecond: float64(n) / took.Seconds(), server: float64((benchmark.TreeTime(t, r.process) - used).Microseconds()) / float64(n),
	}, n
}

// hashing is the processor time of the app's hash, in microseconds.
func hashing(t *testing.T) float64 {
	t.Helper()
	const times = 1000 // the kernel tells the time to 10 ms
	hasher := password.Hasher{Hash: v1alpha1.PasswordSHA256}
	used := benchmark.ProcessorTime(t, os.Getpid())
	for range times {
		if _, err := hasher.Of(benched.Password); err != nil {
			t.Fatal(err)
		}
	}
	return float64((benchmark.ProcessorTime(t, os.Getpid()) - used).Microseconds()) / times
}

// childApp is the environment variable that makes the test binary the app with the configuration in that file.
const childApp = "REPLAB_TEST_SOCIAL_APP"

func TestMain(m *testing.M) {
	if file := os.Getenv(childApp); file != "" {
		os.Exit(beApp(file))
	}
	os.Exit(m.Run())
}
