package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func degradedFrom(from, to int64) wire.DegradedSpan {
	return wire.DegradedSpan{From: evidencetest.At(from), To: evidencetest.At(to)}
}

// waitsForNone has db-0, which acknowledged its last write at 30 s, wait for no standby at times.
func waitsForNone(e *evidence.Run, least, most int64, spans ...wire.DegradedSpan) {
	c := e.Recorder.Commits
	c.OfTransactions, c.DegradedCommits, c.DegradedCommitsAtMost = true, least, most
	c.Nodes[0].DegradedSpans, c.Nodes[0].DegradedMicroseconds = spans, 4_200_999
}

// sampled has samples tell of all the time in which nodes took writes.
func sampled(e *evidence.Run) {
	for i := range e.Recorder.Commits.Nodes {
		e.Recorder.Commits.Nodes[i].UncountedMicroseconds = 0
	}
}

// lost has writes be lost that were acknowledged at times.
func lost(e *evidence.Run, spans ...wire.LostSpan) {
	for _, s := range spans {
		e.Audit.Writes.Lost += s.Writes
	}
	e.Audit.Writes.LostSpans = spans
}

func lostFrom(from, to, writes int64) wire.LostSpan {
	return wire.LostSpan{From: evidencetest.At(from), To: evidencetest.At(to), Writes: writes}
}

// takesTurns has db-0 acknowledge until 35 s, db-1 from 40 to 50 s, and db-0 again from 52 s on.
func takesTurns(e *evidence.Run) {
	e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 35_000, To: 40_000, Node: "db-1"}, evidencetest.Hole{From: 50_000, To: 52_000, Node: "db-0"})
	e.Recorder.Commits.Nodes[0].LastWriteAt, e.Recorder.Commits.Nodes[1].LastWriteAt = evidencetest.AtPtr(60_000), evidencetest.AtPtr(50_000)
}

// TestWhatIsSaidOfATimeWithoutAStandby, and of losses in it: as many as may be, and as many as must.
func TestWhatIsSaidOfATimeWithoutAStandby(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		says   []string // "!" before what must not be said
	}{
		"none":       {func(e *evidence.Run) { waitsForNone(e, 0, 0) }, []string{"!egraded:", "!standby"}},
		"one":        {func(e *evidence.Run) { waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500)) }, []string{"Degraded: 40 transactions were committed without waiting for a standby.", "Node db-0 may have committed without waiting for a standby from 12:00:20.000 to 12:00:24.500, for at least 4200 ms in all."}},
		"two bounds": {func(e *evidence.Run) { waitsForNone(e, 40, 50, degradedFrom(20_000, 24_500)) }, []string{"Degraded: 40 to 50 transactions"}},
		"perhaps":    {func(e *evidence.Run) { waitsForNone(e, 0, 50, degradedFrom(20_000, 20_200)) }, []string{"Perhaps degraded: up to 50 transactions", "!\nDegraded"}},
		"several": {func(e *evidence.Run) {
			waitsForNone(e, 4, 4, degradedFrom(1_000, 2_000), degradedFrom(3_000, 4_000), degradedFrom(5_000, 6_000), degradedFrom(7_000, 8_000), degradedFrom(9_000, 10_000))
		}, []string{"from 12:00:01.000 to 12:00:02.000, from 12:00:03.000 to 12:00:04.000, from 12:00:05.000 to 12:00:06.000, 2 times more, for at least"}},
		"one that nobody saw end": {func(e *evidence.Run) { waitsForNone(e, 4, 4, degradedFrom(29_000, 70_000)) }, []string{"from 12:00:29.000 to 12:00:30.000"}},
		"one that goes on while another node has the writes": {func(e *evidence.Run) {
			takesTurns(e)
			waitsForNone(e, 4, 4, degradedFrom(25_000, 49_000))
		}, []string{"standby from 12:00:25.000 to 12:00:35.000, for at least", "!:49.000"}},
		"one in which nothing was acknowledged": {func(e *evidence.Run) { waitsForNone(e, 4, 4, degradedFrom(31_000, 70_000)) }, []string{"Degraded: 4 transactions", "!db-0 may have"}},
		"a server that counts waits": {func(e *evidence.Run) {
			e.Recorder.Commits.DegradedCommits = 3
			lost(e, lostFrom(20_000, 21_000, 5))
		}, []string{"Degraded: 3 commits went on without", "!standby"}},

		"a server that counts waits, perhaps": {func(e *evidence.Run) {
			e.Recorder.Commits.DegradedCommitsAtMost = 7
		}, []string{"Perhaps degraded: up to 7 commits", "!\nDegraded", "!standby"}},

		"all that was lost": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(24_000, 24_500, 2))
		}, []string{"\n7 of 7 lost writes were acknowledged while the primary may have waited for no standby"}},
		"some of it": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(24_501, 25_000, 2))
		}, []string{"\n5 of 7 lost writes"}},
		"some of it perhaps": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(24_000, 25_000, 2))
		}, []string{"\n5 to 7 of 7 lost writes"}},
		"some of it, and of the rest no sample may tell": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(26_000, 26_500, 2))
		}, []string{"\n5 to 7 of 7 lost writes"}},
		"nothing of it": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(25_000, 26_000, 5))
		}, []string{"None of the 5 lost writes was acknowledged while the primary"}},
		"nothing of it, as far as samples tell": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(26_000, 26_500, 5))
		}, []string{"while degraded is unknown: node db-0 was not sampled for up to 121 ms.", "!None of the"}},
		"what another node acknowledged": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(29_000, 70_000))
			lost(e, lostFrom(40_000, 41_000, 5))
		}, []string{"None of the 5 lost writes"}},
		"what the next primary lost": {func(e *evidence.Run) {
			waitsForNone(e, 0, 0)
			e.Recorder.Commits.Nodes[1].DegradedSpans = []wire.DegradedSpan{degradedFrom(39_000, 42_000)}
			lost(e, lostFrom(40_000, 41_000, 5))
		}, []string{"\n5 of 5 lost writes"}},
		"losses of which no time is known": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			e.Audit.Writes.Lost = 5
		}, []string{"is unknown: the times of the lost writes are unknown."}},
		"a primary that was never sampled": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			e.Recorder.Commits.Nodes[1].Samples = 0
			lost(e, lostFrom(20_000, 21_000, 5))
		}, []string{"while degraded is unknown: node db-1 acknowledged writes", "!of 5 lost"}},
		"a recorder that was restarted": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5))
			e.Recorder.Incomplete = "it was restarted"
		}, []string{"!standby"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			c.change(&e)
			Judge(e, &s)
			all := "\n" + strings.Join(allSaid(s), "\n")
			for _, says := range c.says {
				without, not := strings.CutPrefix(says, "!")
				if strings.Contains(all, without) == not {
					t.Errorf("want %q: %s", says, all)
				}
			}
		})
	}
}

// TestHowLongNoStandbyWasWaitedFor is a lower bound, absent where nobody tells.
func TestHowLongNoStandbyWasWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   any
	}{
		"of all nodes": {func(e *evidence.Run) {
			waitsForNone(e, 4, 4, degradedFrom(20_000, 24_500))
			e.Recorder.Commits.Nodes[1].DegradedMicroseconds = 1_000
		}, int64(4201)},
		"never":                         {func(e *evidence.Run) { waitsForNone(e, 0, 0); e.Recorder.Commits.Nodes[0].DegradedMicroseconds = 0 }, int64(0)},
		"servers count waits":           {func(*evidence.Run) {}, "absent"},
		"a primary that nobody sampled": {func(e *evidence.Run) { waitsForNone(e, 4, 4); e.Recorder.Commits.Nodes[1].Samples = 0 }, "absent"},
	} {
		s := judged(c.change)
		if s.Replication == nil {
			s.Replication = &v1alpha1.ReplicationStatus{}
		}
		if got := text(s.Replication.DegradedMilliseconds); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestHowMuchWasLostWhileDegradedIsStated as the sentences tell it, and is absent where nobody knows.
func TestHowMuchWasLostWhileDegradedIsStated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string // lostWhileDegraded and lostWhileDegradedAtMost
	}{
		"some of it": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(24_501, 25_000, 2))
		}, "5 5"},
		"some of it perhaps": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(24_000, 25_000, 2))
		}, "5 7"},
		"some of it, and of the rest no sample may tell": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5), lostFrom(26_000, 26_500, 2))
		}, "5 7"},
		"nothing of it": {func(e *evidence.Run) {
			sampled(e)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(25_000, 26_000, 5))
		}, "0 0"},
		"nothing of it, as far as samples tell": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(26_000, 26_500, 5))
		}, "absent absent"},
		"of a time in which another node had the writes": {func(e *evidence.Run) {
			sampled(e)
			takesTurns(e)
			waitsForNone(e, 40, 40, degradedFrom(25_000, 49_000))
			lost(e, lostFrom(45_000, 46_000, 5))
		}, "0 0"},
		"of all turns of the node": {func(e *evidence.Run) {
			sampled(e)
			takesTurns(e)
			waitsForNone(e, 40, 40, degradedFrom(25_000, 55_000))
			lost(e, lostFrom(30_000, 31_000, 3), lostFrom(45_000, 46_000, 5), lostFrom(53_000, 54_000, 2))
		}, "5 5"},
		"by the last acknowledgements before another node's, which the ledger has a little later": {func(e *evidence.Run) {
			sampled(e)
			takesTurns(e)
			waitsForNone(e, 40, 40, degradedFrom(25_000, 49_000))
			lost(e, lostFrom(34_900, 35_001, 3), lostFrom(35_002, 35_003, 2), lostFrom(40_000, 40_001, 7))
		}, "5 5"},
		"by the last acknowledgement of all, which the ledger has a little later": {func(e *evidence.Run) {
			sampled(e)
			takesTurns(e)
			waitsForNone(e, 40, 40, degradedFrom(59_000, 60_000))
			lost(e, lostFrom(59_900, 60_001, 3))
		}, "3 3"},
		"in turns of which some may not be known": {func(e *evidence.Run) {
			sampled(e)
			e.Recorder.Availability.Gaps = slices.Repeat(evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-1"}).Gaps, wire.MaxGaps-1)
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5))
		}, "0 5"},
		"in spans of which the last goes on over the times between": {func(e *evidence.Run) {
			sampled(e)
			var spans []wire.DegradedSpan
			for i := range int64(wire.MaxDegradedSpans) {
				spans = append(spans, degradedFrom(100*i, 100*i+50))
			}
			spans[len(spans)-1].To = evidencetest.At(25_000)
			waitsForNone(e, 40, 40, spans...)
			lost(e, lostFrom(100, 150, 2), lostFrom(22_000, 23_000, 5))
		}, "2 7"},
		"nothing was lost": {func(e *evidence.Run) { waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500)) }, "absent absent"},
		"no times": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			e.Audit.Writes.Lost = 5
		}, "absent absent"},
		"a server that counts waits": {func(e *evidence.Run) { lost(e, lostFrom(20_000, 21_000, 5)) }, "absent absent"},
		"a recorder that was restarted": {func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 24_500))
			lost(e, lostFrom(20_000, 21_000, 5))
			e.Recorder.Incomplete = "it was restarted"
		}, "absent absent"},
	} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		c.change(&e)
		Judge(e, &s)
		if got := fmt.Sprint(text(s.Writes.LostWhileDegraded), " ", text(figure.Read(&s, "writes.lostWhileDegraded").AtMost)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestBoundsOfLossesWhileDegradedHaveTheirCause: the times of losses are rounded, or no sample tells of some time.
func TestBoundsOfLossesWhileDegradedHaveTheirCause(t *testing.T) {
	for cause, change := range map[string]func(*evidence.Run){
		"their times are known to some milliseconds": sampled,
		"node db-0 was not sampled for up to 121 ms": func(*evidence.Run) {},
	} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		change(&e)
		waitsForNone(&e, 40, 40, degradedFrom(20_000, 24_500))
		lost(&e, lostFrom(20_000, 21_000, 5), lostFrom(24_000, 25_000, 2))
		Judge(e, &s)
		if f := figure.Read(&s, "writes.lostWhileDegraded"); f.Because != cause {
			t.Errorf("%+v, want because %q", f, cause)
		}
	}
}
