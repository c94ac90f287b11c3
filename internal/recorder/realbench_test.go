package recorder

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/dataset"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
	"replab.dev/test/experiment"
	"replab.dev/test/freeport"
)

// The load is that of the experiments, as a closed loop.
const (
	pathUsers = 20
	pathPairs = 120
	pathTurn  = 500 * time.Millisecond
	// A turn of probes is longer: what fell due while their recorder was stopped is made up for when it goes on, once a turn.
	probePairs = 60
	probeTurn  = 2 * time.Second
)

// TestBenchRecorderInThePath has two real k6 take turns of half a second on a real app and servers: one asks the app, the other a
// recorder before it. The turns come in pairs of random order, and within a pair the machine, the tables and all processes are
// the same. The two halves have processors of their own, as the plan asks of a cluster's scheduler. Where they share all, the
// recorder also takes from the system what it needs itself, and the processor time of all for one request is the throughput.
func TestBenchRecorderInThePath(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name   string
		path   func(*testing.T) *path
		apart  bool
		target benchmark.Target
	}{
		{"semi-sync, halves apart", semiSyncPath, true, benchmark.AtLeast(0.95)},
		{"semi-sync, all share", semiSyncPath, false, benchmark.Target{}},
		{"one server, all share", oneServer, false, benchmark.Target{}},
		{"PostgreSQL quorum, halves apart", quorumPath, true, benchmark.AtLeast(0.95)},
		{"PostgreSQL quorum, all share", quorumPath, false, benchmark.Target{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.path(t)
			if c.apart {
				p.apart()
			}
			w := p.startRecorder(silent)
			with := p.startTurns(pathTurn, "http://"+w.listen, w.cmd)
			without := p.startTurns(pathTurn, fmt.Sprintf("http://%s:%d", p.app.Host, p.app.Port), nil)
			through, direct := benchmark.Pairs(pathPairs, with.turn, without.turn)
			report("recorder in the path: "+c.name+", "+congestionControl(t), "with it", through, "without", direct, c.target)
			var own []float64
			for _, r := range through {
				own = append(own, r.parts[partRecorder])
			}
			benchmark.Figure{What: "  of it the recorder's own", Value: percentile.Median(own), Unit: "µs"}.Print()
			p.checkRequests()
		})
	}
}

// congestionControl is the machine's for TCP: the recorder is two more connections, and BBR's pacing takes processor time.
func congestionControl(t *testing.T) string {
	name, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

// TestBenchProbes has a load through a recorder that probes lag and counts commits, at the defaults, take turns with one through a
// recorder that does not. The availability probe is off: it writes nothing beside such a load, but would make up for the time
// in which its recorder was stopped. What a probe costs each of the three nodes adds up here, since they share processors.
func TestBenchProbes(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name   string
		path   func(*testing.T) *path
		apart  bool
		target benchmark.Target
	}{
		{"semi-sync, halves apart", semiSyncPath, true, benchmark.AtLeast(0.97)},
		{"semi-sync, all share", semiSyncPath, false, benchmark.Target{}},
		{"PostgreSQL quorum, halves apart", quorumPath, true, benchmark.AtLeast(0.97)},
		{"PostgreSQL quorum, all share", quorumPath, false, benchmark.Target{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.path(t)
			if c.apart {
				p.apart()
			}
			p.unindex() // both recorders count from 1
			on, off := p.startRecorder(p.probing), p.startRecorder(silent)
			with := p.startTurns(probeTurn, "http://"+on.listen, on.cmd)
			without := p.startTurns(probeTurn, "http://"+off.listen, off.cmd)
			probed, bare := benchmark.Pairs(probePairs, with.turn, without.turn)
			report("probes: "+c.name, "on", probed, "off", bare, c.target)
			p.checkRequests()
		})
	}
}

// report prints two lines: the throughput, and the processor time of a request.
func report(what, nameA string, a []round, nameB string, b []round, target benchmark.Target) {
	rate, cost := func(r round) float64 { return r.perSecond }, func(r round) float64 { return r.cost }
	benchmark.OfPairs(what, benchmark.Both(a, nameA, b, nameB, rate, "/s"), benchmark.Ratios(a, b, rate), target).Print()
	benchmark.OfPairs("  by processor time", benchmark.Both(a, nameA, b, nameB, cost, " µs"), benchmark.Ratios(b, a, cost), benchmark.Target{}).Print()
}

// round is what was found while a load ran.
type round struct {
	perSecond float64            // requests
	cost      float64            // processor time of all processes for one request, in microseconds
	parts     map[string]float64 // of that, each part's own
}

// running is a recorder in a process of its own.
type running struct {
	cmd             *exec.Cmd
	listen, control string
}

// startRecorder puts a recorder before the app.
func (p *path) startRecorder(configure func(*wire.RecorderConfig)) running {
	p.t.Helper()
	cfg := wire.RecorderConfig{
		Namespace: "default", StateMap: "recorder", Listen: freeport.Address(p.t), ListenControl: freeport.Address(p.t),
		App: p.app, Writes: p.writes, SecretDir: p.secrets, LedgerPath: filepath.Join(p.t.TempDir(), "ledger"), Engine: p.engine,
		Stages: []wire.Stage{{Name: "steady", DurationSeconds: 3600}}, RequestTimeoutMilliseconds: 15_000,
	}
	configure(&cfg)
	cmd := startProcess(p.t, childConfig, cfg)
	eventually(p.t, "the recorder serves", func() bool {
		c, err := net.Dial("tcp", cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return running{cmd, cfg.Listen, cfg.ListenControl}
}

func newRound(requests int64, took time.Duration, before, after map[string]time.Duration) round {
	n := float64(requests)
	r := round{perSecond: n / took.Seconds(), parts: map[string]float64{}}
	for part := range after {
		r.parts[part] = float64((after[part] - before[part]).Microseconds()) / n
		r.cost += r.parts[part]
	}
	return r
}

// probing turns the probes of lag and of commits on, at their defaults.
func (p *path) probing(c *wire.RecorderConfig) {
	p.t.Helper()
	lag := experiment.Load(p.t, "semisync").Spec.Probes.Lag
	c.Nodes, c.CountCommits, c.LagIntervalMilliseconds, c.LagPayloadBytes = p.nodes, true, lag.IntervalMilliseconds, []int64{lag.PayloadBytes}
}

func silent(*wire.RecorderConfig) {}

// commandK6 is a k6 whose load runs for longer than any bench.
func (p *path) commandK6(url string) *exec.Cmd {
	p.t.Helper()
	users, err := dataset.New(1, "en")
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := json.Marshal(wire.LoadConfig{
		Stages: []wire.LoadStage{{Name: "steady", DurationSeconds: 3600, Users: pathUsers}},
		Mix:    map[string]int{"register": 1, "profile": 1, "search": 1}, Users: seededUsers, Prefixes: users.Prefixes(50),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.k6, "run", "--quiet", "--no-usage-report", "--address=", p.script)
	cmd.Env = append(os.Environ(), wire.URLEnv+"="+url, wire.LoadEnv+"="+string(config))
	return cmd
}
