package lag

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
	"replab.dev/test/experiment"
)

// load inserts users from several clients until stop is called, which returns how many. perSecond 0 means without pause.
func load(t *testing.T, db *sql.DB, clients, perSecond int) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	db.SetMaxIdleConns(clients)
	var done atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for ctx.Err() == nil {
				if _, err := db.Exec("INSERT INTO users(first_name,last_name,password) VALUES('Ada','Lovelace','x')"); err != nil {
					t.Errorf("load: %v", err)
					return
				}
				done.Add(1)
				if perSecond > 0 {
					time.Sleep(time.Duration(clients) * time.Second / time.Duration(perSecond)) // its rate
				}
			}
		})
	}
	return func() int64 { cancel(); group.Wait(); return done.Load() }
}

// defaultInterval is that of an experiment which says nothing of it.
func defaultInterval(t *testing.T) time.Duration {
	return time.Duration(experiment.Load(t, "semisync").Spec.Probes.Lag.IntervalMilliseconds) * time.Millisecond
}

func TestBenchResolutionOfAnAsynchronousPair(t *testing.T) {
	eachFleet(t, resolutionOfAnAsynchronousPair)
}

func resolutionOfAnAsynchronousPair(t *testing.T, newFleet fleetOf) {
	f := newFleet(t, "a", "b")
	for _, perSecond := range []int{0, 50, 200} {
		stop := func() int64 { return 0 }
		if perSecond > 0 {
			stop = load(t, f.writer, 2, perSecond)
		}
		asked, used := f.asked(t, 1), f.processorTime(t)
		c := f.configure(t)
		c.Interval = defaultInterval(t)
		p := start(t, c)
		time.Sleep(30 * time.Second) // 150 samples
		r := p.stop()
		asked, used = f.asked(t, 1)-asked, f.processorTime(t)-used
		stop()
		b := r.Nodes[1]
		lag, resolution := *b.P50Microseconds, *b.ResolutionP50Microseconds
		benchmark.Figure{
			What:     fmt.Sprintf("lag, %s: resolution by lag, beside %d writes/s", f.engine, perSecond),
			Measured: fmt.Sprintf("resolution p50 %d µs, lag p50 %d µs", resolution, lag),
			Value:    float64(resolution) / float64(lag), Target: benchmark.AtMost(0.5),
		}.Print()
		benchmark.Figure{
			What: "  statements on the replica for a sample", Measured: fmt.Sprintf("%d samples, %s of processor time", b.Samples, used),
			Value: float64(asked) / float64(b.Samples), Unit: "statements",
		}.Print()
	}
}

// round is one measurement of a load without pause.
type round struct {
	perSecond float64 // writes of the load
	each      float64 // processor time of all servers and this process for one of them, in microseconds
}

// TestBenchThroughputWithAndWithoutTheProbe is the hard case: nothing but writes, from clients without pause. On a machine
// that others use too the throughput of one round says little; the processor time of a write says what the throughput
// would be where processors are the limit.
func TestBenchThroughputWithAndWithoutTheProbe(t *testing.T) {
	eachFleet(t, throughputWithAndWithoutTheProbe)
}

func throughputWithAndWithoutTheProbe(t *testing.T, newFleet fleetOf) {
	const pairs = 9
	f := newFleet(t, "a", "b", "c")
	measure := func(interval time.Duration) round {
		var p running
		if interval > 0 {
			c := f.configure(t)
			c.Interval = interval
			p = start(t, c)
			p.until("the probe runs", func(r wire.LagResult) bool { return r.Samples > 20 })
		}
		began, used := time.Now(), f.processorTime(t)
		stop := load(t, f.writer, 8, 0)
		time.Sleep(3 * time.Second) // the length of a round
		writes := float64(stop())
		r := round{writes / time.Since(began).Seconds(), float64((f.processorTime(t) - used).Microseconds()) / writes}
		if interval > 0 {
			p.stop()
		}
		f.catchUp()
		return r
	}
	measure(0) // warm-up
	for _, interval := range []time.Duration{20 * time.Millisecond, defaultInterval(t)} {
		with, without := benchmark.Pairs(pairs, func() round { return measure(interval) }, func() round { return measure(0) })
		rate, each := func(r round) float64 { return r.perSecond }, func(r round) float64 { return r.each }
		benchmark.OfPairs(fmt.Sprintf("lag, %s: every %s, 8 writers, 2 replicas", f.engine, interval),
			benchmark.Both(with, "with", without, "without", rate, "/s"), benchmark.Ratios(with, without, rate), benchmark.Target{}).Print()
		benchmark.OfPairs("  by processor time",
			benchmark.Both(with, "with", without, "without", each, " µs"), benchmark.Ratios(without, with, each), benchmark.Target{}).Print()
	}
}

// pt-heartbeat's own table has columns that it fills by SHOW MASTER STATUS, which 8.4 removed: it leaves out those that
// the table does not have.
func TestBenchBesidePtHeartbeat(t *testing.T) {
	benchmark.Skip(t)
	path, err := exec.LookPath("pt-heartbeat")
	if err != nil {
		t.Skip("install percona-toolkit to compare")
	}
	s := follow(t, "a", "b")
	s[0].Exec("CREATE TABLE social.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)")
	s[1].CatchUp(s[0])
	var id int
	must(t, s[0].DB(wire.AccountAdmin, "").QueryRow("SELECT @@server_id").Scan(&id))
	tool := func(on *enginetest.Server, args ...string) *exec.Cmd {
		return exec.Command(path, append(args, "--utc", "--database=social", "--table=heartbeat", fmt.Sprintf("--master-server-id=%d", id),
			fmt.Sprintf("S=%s,u=%s,p=%s", on.Socket, wire.AccountAdmin, enginetest.Password))...)
	}
	for _, setting := range [][]string{{"--interval=1", "--skew=0.5"}, {"--interval=0.02", "--skew=0"}} {
		update := tool(s[0], append(setting, "--update", "--replace")...)
		must(t, update.Start())
		end := sync.OnceFunc(func() { _ = update.Process.Kill(); _ = update.Wait() })
		t.Cleanup(end)
		waitForRow(t, s[1].DB(wire.AccountAdmin, wire.Database))
		p := start(t, configure(t, s[0].Endpoint(), s...))
		heard := said(t, tool(s[1], append(setting, "--monitor", "--run-time=10")...))
		what := "lag: pt-heartbeat " + strings.Join(setting, " ")
		show := func(state, heard string, figure *int64) {
			benchmark.Figure{What: what, Measured: state + " it says " + heard + "; the probe", Value: float64(*figure), Unit: "µs"}.Print()
		}
		show("healthy:", heard, p.Result().Nodes[1].P50Microseconds)
		p.Latest()
		s[1].Exec("STOP REPLICA SQL_THREAD")
		heard = said(t, tool(s[1], append(setting, "--monitor", "--run-time=4")...))
		show("stalled for 4 s:", heard, &p.Latest()[1])
		s[1].Exec("START REPLICA SQL_THREAD")
		p.stop()
		end()
		s[1].CatchUp(s[0])
	}
}

func waitForRow(t *testing.T, db *sql.DB) {
	t.Helper()
	for rows := 0; rows == 0; time.Sleep(50 * time.Millisecond) { // between two looks
		must(t, db.QueryRow("SELECT COUNT(*) FROM heartbeat").Scan(&rows))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// said runs a monitor to its end and returns what it said: the count, the median and the largest.
func said(t *testing.T, monitor *exec.Cmd) string {
	t.Helper()
	out, err := monitor.Output()
	must(t, err)
	var lags []string
	for line := range strings.Lines(string(out)) {
		lag, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		lags = append(lags, lag)
	}
	if len(lags) == 0 {
		return "nothing"
	}
	slices.Sort(lags)
	return fmt.Sprintf("%d values, median %s, largest %s", len(lags), lags[len(lags)/2], lags[len(lags)-1])
}
