package witness

import (
	"fmt"
	"testing"

	"replab.dev/test/benchmark"
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
	both := func(figure func(round) float64, unit string) string {
		var as, bs []float64
		for i := range a {
			as, bs = append(as, figure(a[i])), append(bs, figure(b[i]))
		}
		return fmt.Sprintf("%.0f%s %s, %.0f%s %s", benchmark.Median(as), unit, nameA, benchmark.Median(bs), unit, nameB)
	}
	rate := func(r round) float64 { return r.perSecond }
	cost := func(r round) float64 { return r.cost }
	benchmark.OfPairs(what, both(rate, "/s"), benchmark.Ratios(a, b, rate), target).Print()
	benchmark.OfPairs("  by processor time", both(cost, " µs"), benchmark.Ratios(b, a, cost), benchmark.Target{}).Print()
}
