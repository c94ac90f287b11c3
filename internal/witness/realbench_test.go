package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/dataset"
	"replab.dev/internal/k6"
	"replab.dev/internal/protocol"
	"replab.dev/test/benchmark"
)

// The load is that of the experiments, as a closed loop.
const (
	pathUsers   = 20
	pathSeconds = 4
	pathPairs   = 15
)

// TestBenchWitnessInThePath puts the load of a real k6 on a real app and servers, with and without a witness, in pairs of
// random order. The processor time of all processes for one request is the throughput where the processors are the limit,
// and other work on the machine disturbs it less.
func TestBenchWitnessInThePath(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name string
		path func(*testing.T) *path
	}{
		{"semi-sync, HAProxy", semiSyncPath},
		{"one bare server", oneServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.path(t)
			p.direct() // warm-up
			through, direct := benchmark.Pairs(pathPairs, func() round { return p.through(silent) }, p.direct)
			report("witness in the path: "+c.name, "with it", through, "without", direct, benchmark.AtLeast(0.95))
			var own []float64
			for _, r := range through {
				own = append(own, r.witness)
			}
			benchmark.Figure{What: "  of it the witness's own", Value: benchmark.Median(own), Unit: "µs"}.Print()
		})
	}
}

// TestBenchProbes compares a witness that probes lag and availability, at the defaults, with one that does not.
func TestBenchProbes(t *testing.T) {
	benchmark.Skip(t)
	p := semiSyncPath(t)
	p.direct()
	on, off := benchmark.Pairs(pathPairs, func() round { return p.through(p.probing) }, func() round { return p.through(silent) })
	report("probes: semi-sync, HAProxy", "on", on, "off", off, benchmark.AtLeast(0.97))
}

// report prints two lines: the throughput, and the processor time of a request.
func report(what, nameA string, a []round, nameB string, b []round, target benchmark.Target) {
	rate, cost := func(r round) float64 { return r.perSecond }, func(r round) float64 { return r.cost }
	benchmark.OfPairs(what, benchmark.Both(a, nameA, b, nameB, rate, "/s"), benchmark.Ratios(a, b, rate), target).Print()
	benchmark.OfPairs("  by processor time", benchmark.Both(a, nameA, b, nameB, cost, " µs"), benchmark.Ratios(b, a, cost), benchmark.Target{}).Print()
}

// round is what one run of k6 found.
type round struct {
	perSecond float64 // requests
	cost      float64 // processor time of all processes for one request, in microseconds
	witness   float64 // of that, the witness's own
}

// direct puts the load on the app itself.
func (p *path) direct() round { return p.load(fmt.Sprintf("http://%s:%d", p.app.Host, p.app.Port), 0) }

// through puts a witness between that is fresh, as that of every experiment is.
func (p *path) through(configure func(*protocol.WitnessConfig)) round {
	cfg := protocol.WitnessConfig{
		Namespace: "default", StateMap: "witness", Listen: freeAddress(p.t), ListenControl: freeAddress(p.t),
		App: p.app, Writes: p.writes, SecretDir: p.secrets, LedgerPath: filepath.Join(p.t.TempDir(), "ledger"), Engine: "MySQL",
		Stages: []protocol.Stage{{Name: "steady", DurationSeconds: pathSeconds}}, RequestTimeoutMilliseconds: 15_000,
	}
	configure(&cfg)
	cmd := startProcess(p.t, childConfig, cfg)
	eventually(p.t, "the witness serves", func() bool {
		c, err := net.Dial("tcp", cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	r := p.load("http://"+cfg.Listen, cmd.Process.Pid)
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		p.t.Errorf("the witness ended: %v", err)
	}
	return r
}

// probing turns the probes on, at their defaults.
func (p *path) probing(c *protocol.WitnessConfig) {
	for _, s := range p.servers {
		c.Nodes = append(c.Nodes, protocol.Node{Name: s.Name, Host: fmt.Sprintf("127.0.0.1:%d", s.Port)})
	}
	c.SemiSync = true
	c.LagIntervalMilliseconds, c.LagPayloadBytes, c.AvailabilityIntervalMilliseconds = 100, []int64{100}, 20
}

func silent(*protocol.WitnessConfig) {}

// load runs k6 once; witness is the process that is part of the path besides, 0 for none.
func (p *path) load(url string, witness int) round {
	p.t.Helper()
	processes := p.processes
	if witness != 0 {
		processes = append(processes[:len(processes):len(processes)], witness)
	}
	p.restore()
	own := func() time.Duration {
		if witness == 0 {
			return 0
		}
		return benchmark.ProcessorTime(p.t, witness)
	}
	used, ownUsed := benchmark.ProcessorTime(p.t, processes...), own()
	summary, k6 := p.runK6(url)
	used, ownUsed = benchmark.ProcessorTime(p.t, processes...)-used+k6, own()-ownUsed
	n := float64(summary.Requests)
	return round{n / pathSeconds, float64(used.Microseconds()) / n, float64(ownUsed.Microseconds()) / n}
}

// restore takes back what earlier rounds wrote: every round begins on the same tables, and every witness with id 1. The
// servers get a second to purge what was deleted, which the next round would pay for.
func (p *path) restore() {
	p.t.Helper()
	p.servers[0].Exec(fmt.Sprintf("DELETE FROM social.users WHERE id > %d; TRUNCATE social.probe_writes", seededUsers))
	for _, replica := range p.servers[1:] {
		replica.CatchUp(p.servers[0])
	}
	time.Sleep(time.Second)
}

// runK6 returns what k6 counted, and the processor time that it used.
func (p *path) runK6(url string) (protocol.K6Summary, time.Duration) {
	p.t.Helper()
	users, err := dataset.New(1, "en")
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := json.Marshal(protocol.LoadConfig{
		Stages: []protocol.LoadStage{{Name: "steady", DurationSeconds: pathSeconds, Users: pathUsers}},
		Mix:    map[string]int{"register": 1, "profile": 1, "search": 1}, Users: seededUsers, Prefixes: users.Prefixes(50),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.t.TempDir(), "summary.json")
	cmd := exec.Command(p.k6, "run", "--quiet", "--no-usage-report", "--address=", p.script)
	cmd.Env = append(os.Environ(), protocol.URLEnv+"="+url, protocol.LoadEnv+"="+string(config), protocol.SummaryEnv+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("k6: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	summary, err := k6.ParseSummary(text)
	// A read of a user that a replica does not have yet fails, as in an experiment.
	if err != nil || summary.Registered == 0 || summary.FailedRequests > summary.Requests/10 {
		p.t.Fatalf("k6: %d of %d requests failed, %v\n%s", summary.FailedRequests, summary.Requests, err, out)
	}
	return summary, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
