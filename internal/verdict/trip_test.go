package verdict

import (
	"strings"
	"testing"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

func TestTripToTheChosenStandby(t *testing.T) {
	const unknown = "which standby commits waited for is unknown"
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   int64
		why    string
	}{
		"the near one":                  {func(e *evidence.Run) { evidencetest.WaitedFor(e, -100, 60_100, "db-1") }, 20_400, ""},
		"the far one":                   {func(e *evidence.Run) { evidencetest.WaitedFor(e, -100, 60_100, "db-2") }, 40_400, ""},
		"nobody knows":                  {func(*evidence.Run) {}, 0, unknown},
		"nobody knows of the end":       {func(e *evidence.Run) { evidencetest.WaitedFor(e, -100, 59_900, "db-1") }, 0, unknown},
		"nobody knows of the beginning": {func(e *evidence.Run) { evidencetest.WaitedFor(e, 100, 60_100, "db-1") }, 0, unknown},
		"nobody knows of some time": {func(e *evidence.Run) {
			evidencetest.WaitedFor(e, -100, 30_000, "db-1")
			evidencetest.WaitedFor(e, 31_000, 60_100, "db-1")
		}, 0, unknown},
		"one that is no node": {func(e *evidence.Run) { evidencetest.WaitedFor(e, -100, 60_100, "other") }, 0, unknown},
		"another one in the midst of it": {func(e *evidence.Run) {
			evidencetest.WaitedFor(e, -100, 30_000, "db-1")
			evidencetest.WaitedFor(e, 29_900, 60_100, "db-2")
		}, 0, "commits waited for standbys at different distances"},
		"another one before it": {func(e *evidence.Run) {
			evidencetest.WaitedFor(e, -900, -100, "db-1")
			evidencetest.WaitedFor(e, -200, 60_100, "db-2")
		}, 40_400, ""},
		"both":            {func(e *evidence.Run) { e.CommitWaits = 2 }, 40_400, ""},
		"any of a quorum": {func(e *evidence.Run) { e.StandbysChosen = false }, 20_400, ""},
		"another one as far away": {func(e *evidence.Run) {
			e.Spec.Topology.Links[1].RoundTripMilliseconds = 20
			e.Distance.RoundTrips[1] = e.Distance.RoundTrips[0]
			e.Distance.RoundTrips[1].To = "db-2"
		}, 20_400, ""},
		"one beside the primary": {func(e *evidence.Run) {
			e.Spec.Topology.Links, e.Distance.RoundTrips = e.Spec.Topology.Links[1:], e.Distance.RoundTrips[1:]
			evidencetest.WaitedFor(e, -100, 60_100, "db-1")
		}, 0, "commits waited for no node at a distance"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgedApart(func(e *evidence.Run) { evidencetest.ChosenApart(e); c.change(e) })
			d := s.Load.Stages[0].Distance
			if (d != nil) != (c.why == "") || d != nil && d.RoundTripMicroseconds != c.want {
				t.Errorf("%+v, want %d µs: %q", d, c.want, s.Reasons)
			}
			if c.why != "" && !strings.Contains(strings.Join(allSaid(s), " "), "stage steady is not compared with the distance: "+c.why) {
				t.Errorf("%q, want %q", s.Reasons, c.why)
			}
		})
	}
}
