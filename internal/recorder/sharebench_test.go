package recorder

import (
	"fmt"
	"testing"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/percentile"
	"replab.dev/test/benchmark"
)

const (
	sharePairs = 9
	shareTurn  = 3 * time.Second
)

// TestBenchShares prints who uses the processors in an experiment with Single on a machine that all share. Two apps take turns, each with a k6
// and a recorder: one as the plan has it, one with Bcrypt and with Go's default garbage collection in all three.
func TestBenchShares(t *testing.T) {
	benchmark.Skip(t)
	p := singlePath(t)
	p.unindex() // both recorders count from 1
	dear := *p
	t.Setenv("GOGC", "100")
	dear.startApp(v1alpha1.PasswordBcrypt)
	dearTurns := dear.throughRecorder()
	t.Setenv("GOGC", "400")
	p.startApp(v1alpha1.PasswordSHA256)
	turns := p.throughRecorder()
	now, before := benchmark.Pairs(sharePairs, turns.turn, dearTurns.turn)

	reportShares("Single, as it is", now, benchmark.AtLeast(0.4))
	reportShares("Single, with Bcrypt and GOGC=100", before, benchmark.Target{})
	rate := func(r round) float64 { return r.perSecond }
	benchmark.OfPairs("requests of Single beside Bcrypt and GOGC=100", benchmark.Both(now, "as it is", before, "with them", rate, "/s"),
		benchmark.Ratios(now, before, rate), benchmark.AtLeast(1.7)).Print()
	p.checkRequests()
	dear.checkRequests()
}

// reportShares prints the servers' share of all processor time, and each part's time for one request.
func reportShares(what string, rounds []round, target benchmark.Target) {
	median := func(figure func(round) float64) float64 {
		var all []float64
		for _, r := range rounds {
			all = append(all, figure(r))
		}
		return percentile.Median(all)
	}
	measured := fmt.Sprintf("of %.0f µs a request", median(func(r round) float64 { return r.cost }))
	share := func(r round) float64 { return r.parts[partServers] / r.cost }
	benchmark.Figure{What: "servers' share: " + what, Measured: measured, Value: median(share), Target: target}.Print()
	for _, part := range []string{partServers, partProxy, partApp, partRecorder, partK6} {
		benchmark.Figure{What: "  " + part, Value: median(func(r round) float64 { return r.parts[part] }), Unit: "µs"}.Print()
	}
}

// singlePath is HAProxy and one server, without an app.
func singlePath(t *testing.T) *path {
	p := newPath(t, mysqlServers(t, mysqltest.Start(t, "primary", mysqltest.Parameter("innodb-buffer-pool-size", "134217728"))))
	p.seed(p.startHAProxy(findHAProxy(t)))
	return p
}

// throughRecorder is a load on the app with a recorder before it.
func (p *path) throughRecorder() *turns {
	p.t.Helper()
	w := p.startRecorder(silent)
	return p.startTurns(shareTurn, "http://"+w.listen, w.cmd)
}
