package lag

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/mysqltest"
	"replab.dev/internal/protocol"
)

// The benches print figures and assert nothing: REPLAB_BENCH=1 go test -run Bench -v ./internal/lag
func bench(t *testing.T) {
	t.Helper()
	if os.Getenv("REPLAB_BENCH") == "" {
		t.Skip("prints figures: set REPLAB_BENCH=1")
	}
}

// load inserts users from several clients until stop is called, which returns how many. perSecond 0 means without pause.
func load(t *testing.T, s *mysqltest.Server, clients, perSecond int) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	db := s.DB(protocol.AccountApp, protocol.Database)
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
					time.Sleep(time.Duration(clients) * time.Second / time.Duration(perSecond))
				}
			}
		})
	}
	return func() int64 { cancel(); group.Wait(); return done.Load() }
}

func questions(t *testing.T, s *mysqltest.Server) (n int64) {
	t.Helper()
	var name string
	if err := s.DB(protocol.AccountAdmin, "").QueryRow("SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverTime is what a server's process has used, to 10 ms.
func serverTime(t *testing.T, s *mysqltest.Server) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process().Pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	var ticks int64
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func TestBenchBracketOfAnAsynchronousPair(t *testing.T) {
	bench(t)
	s := follow(t, "a", "b")
	for _, perSecond := range []int{0, 50, 200} {
		stop := func() int64 { return 0 }
		if perSecond > 0 {
			stop = load(t, s[0], 2, perSecond)
		}
		asked, used, servers := questions(t, s[1]), processorTime(t), []time.Duration{serverTime(t, s[0]), serverTime(t, s[1])}
		p := start(t, configure(t, s[0].Endpoint(), s...))
		time.Sleep(15 * time.Second)
		r := p.stop()
		asked, used = questions(t, s[1])-asked, processorTime(t)-used
		writes := stop()
		b := r.Nodes[1]
		fmt.Printf("beside %d writes: %s  bracket/lag %.2f, %.1f statements a sample, processor time in 15 s: probe and load's client %v, servers %v %v\n",
			writes, describe(r), float64(*b.BracketP50Microseconds)/float64(*b.P50Microseconds), float64(asked)/float64(b.Samples),
			used, serverTime(t, s[0])-servers[0], serverTime(t, s[1])-servers[1])
	}
}

// round is one measurement of a load without pause.
type round struct {
	perSecond float64       // writes of the load
	each      time.Duration // processor time of all servers and this process for one of them
}

// On a machine that others use too the throughput of one round says little; the processor time of a write says what the
// throughput would be where processors are the limit.
func TestBenchThroughputWithAndWithoutTheProbe(t *testing.T) {
	bench(t)
	s := follow(t, "a", "b", "c")
	total := func() time.Duration {
		return processorTime(t) + serverTime(t, s[0]) + serverTime(t, s[1]) + serverTime(t, s[2])
	}
	measure := func(interval time.Duration) round {
		var p running
		if interval > 0 {
			c := configure(t, s[0].Endpoint(), s...)
			c.Interval = interval
			p = start(t, c)
			p.until("the probe runs", func(r protocol.LagResult) bool { return r.Samples > 20 })
		}
		began, used := time.Now(), total()
		stop := load(t, s[0], 8, 0)
		time.Sleep(3 * time.Second)
		writes := float64(stop())
		r := round{perSecond: writes / time.Since(began).Seconds(), each: time.Duration(float64(total()-used) / writes)}
		if interval > 0 {
			p.stop()
		}
		s[1].CatchUp(s[0])
		s[2].CatchUp(s[0])
		return r
	}
	measure(0) // warm-up
	for _, interval := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		var rates, costs []float64
		for range 10 {
			order := []time.Duration{interval, 0}
			flipped := rand.IntN(2) == 0
			if flipped {
				slices.Reverse(order)
			}
			with, without := measure(order[0]), measure(order[1])
			if flipped {
				with, without = without, with
			}
			rates = append(rates, with.perSecond/without.perSecond)
			costs = append(costs, float64(without.each)/float64(with.each))
			fmt.Printf("%v: with %.0f/s, %v each; without %.0f/s, %v each\n", interval, with.perSecond, with.each, without.perSecond, without.each)
		}
		slices.Sort(rates)
		slices.Sort(costs)
		fmt.Printf("a probe every %v, median of 10 pairs: throughput %.3f (%.3f to %.3f), by processor time %.3f (%.3f to %.3f)\n",
			interval, (rates[4]+rates[5])/2, rates[0], rates[9], (costs[4]+costs[5])/2, costs[0], costs[9])
	}
}

// pt-heartbeat's own table has columns that it fills by SHOW MASTER STATUS, which 8.4 removed: it leaves out those that
// the table does not have.
func TestBenchBesidePtHeartbeat(t *testing.T) {
	bench(t)
	path, err := exec.LookPath("pt-heartbeat")
	if err != nil {
		t.Skip("install percona-toolkit to compare")
	}
	s := follow(t, "a", "b")
	s[0].Exec("CREATE TABLE social.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)")
	s[1].CatchUp(s[0])
	var id int
	must(t, s[0].DB(protocol.AccountAdmin, "").QueryRow("SELECT @@server_id").Scan(&id))
	tool := func(on *mysqltest.Server, args ...string) *exec.Cmd {
		return exec.Command(path, append(args, "--utc", "--database=social", "--table=heartbeat", fmt.Sprintf("--master-server-id=%d", id),
			fmt.Sprintf("S=%s,u=%s,p=%s", on.Socket, protocol.AccountAdmin, mysqltest.Password))...)
	}
	for _, setting := range [][]string{{"--interval=1", "--skew=0.5"}, {"--interval=0.02", "--skew=0"}} {
		update := tool(s[0], append(setting, "--update", "--replace")...)
		must(t, update.Start())
		end := sync.OnceFunc(func() { _ = update.Process.Kill(); _ = update.Wait() })
		t.Cleanup(end)
		waitForRow(t, s[1].DB(protocol.AccountAdmin, protocol.Database))
		p := start(t, configure(t, s[0].Endpoint(), s...))
		heard := said(t, tool(s[1], append(setting, "--monitor", "--run-time=10")...))
		fmt.Printf("pt-heartbeat %v, healthy: it says %s; the probe: %s", setting, heard, describe(p.Result()))
		p.Latest()
		s[1].Exec("STOP REPLICA SQL_THREAD")
		heard = said(t, tool(s[1], append(setting, "--monitor", "--run-time=4")...))
		fmt.Printf("\n  stalled for 4 s: it says %s; the probe's largest: %v µs\n", heard, p.Latest())
		s[1].Exec("START REPLICA SQL_THREAD")
		p.stop()
		end()
		s[1].CatchUp(s[0])
	}
}

func waitForRow(t *testing.T, db *sql.DB) {
	t.Helper()
	for rows := 0; rows == 0; time.Sleep(50 * time.Millisecond) {
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
