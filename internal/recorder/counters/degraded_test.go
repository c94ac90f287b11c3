package counters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// waiting is a sample of a server that counts no waits: its transactions, how commits wait, and when it read its settings.
type waiting struct {
	seconds      float64 // since the load's start
	transactions int64
	alone        bool
	settings     int // that it has read for the so-manyth time
}

func (w waiting) commits(up int64) engine.Commits {
	return engine.Commits{
		Transactions: w.transactions, UpSeconds: up,
		Waiting: &engine.Waiting{Degraded: w.alone, SettingsSince: begin.Add(time.Duration(w.settings) * time.Millisecond)},
	}
}

func span(from, to float64) wire.DegradedSpan {
	return wire.DegradedSpan{From: metav1.NewMicroTime(after(from)), To: metav1.NewMicroTime(after(to))}
}

func TestCommitsWithoutAWaitAreBoundedBySamples(t *testing.T) {
	for name, c := range map[string]struct {
		samples       []waiting
		least, atMost int64
		milliseconds  int64
		spans         []wire.DegradedSpan
	}{
		"all wait": {samples: []waiting{{-1, 10, false, 1}, {1, 30, false, 1}, {2, 70, false, 1}}},
		"none waits": { // in the first interval, some may have before the server's processes knew
			samples: []waiting{{-1, 10, true, 1}, {1, 30, true, 1}, {2, 70, true, 1}, {3, 75, true, 1}},
			least:   45, atMost: 65, milliseconds: 2000, spans: []wire.DegradedSpan{span(-1, 3)},
		},
		"from some time on none waits": {
			samples: []waiting{{-1, 0, false, 1}, {1, 1, false, 1}, {2, 11, true, 2}, {3, 111, true, 2}, {4, 1111, true, 2}},
			least:   1000, atMost: 1110, milliseconds: 1000, spans: []wire.DegradedSpan{span(1, 4)},
		},
		"for some time none waits": {
			samples: []waiting{{-1, 0, false, 1}, {1, 1, true, 2}, {2, 11, true, 2}, {3, 111, false, 3}, {4, 1111, false, 3}, {5, 11111, false, 3}},
			least:   0, atMost: 1111, spans: []wire.DegradedSpan{span(-1, 4)},
		},
		"seen once only": {
			samples: []waiting{{-1, 0, false, 1}, {1, 1, false, 1}, {2, 11, true, 2}, {3, 111, false, 3}, {4, 1111, false, 3}, {5, 11111, false, 3}},
			least:   0, atMost: 1110, spans: []wire.DegradedSpan{span(1, 4)},
		},
		"twice, and with a pause that no sample is sure of": {
			samples: []waiting{{-1, 0, true, 1}, {1, 1, true, 1}, {2, 11, true, 3}, {3, 111, true, 3}, {4, 1111, true, 3}},
			least:   1000, atMost: 1111, milliseconds: 1000, spans: []wire.DegradedSpan{span(-1, 4)},
		},
		"settings that changed unseen may have been anything for a while": {
			samples: []waiting{{-1, 0, false, 1}, {1, 1, false, 1}, {2, 11, false, 3}, {3, 111, false, 3}, {4, 1111, false, 3}},
			least:   0, atMost: 110, spans: []wire.DegradedSpan{span(1, 3)},
		},
		"settings that changed unseen just before the last sample": {
			samples: []waiting{{-1, 0, false, 1}, {1, 1, false, 1}, {2, 11, false, 3}},
			least:   0, atMost: 10, spans: []wire.DegradedSpan{span(1, 2)},
		},
		"two spans": {
			samples: []waiting{{-1, 0, true, 1}, {1, 0, false, 2}, {2, 0, false, 2}, {3, 0, false, 2}, {4, 0, true, 3}, {5, 0, false, 4}},
			spans:   []wire.DegradedSpan{span(-1, 2), span(3, 5)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var sum Commits
			for _, w := range c.samples {
				if w.seconds > 0 {
					sum.Start(begin)
				}
				sum.Add(Sample[engine.Commits]{Node: "a", At: after(w.seconds), Counts: w.commits(100 + int64(w.seconds)), Wrote: after(w.seconds)})
			}
			last := c.samples[len(c.samples)-1].seconds
			want := wire.NodeCommits{
				Name: "a", Samples: int64(len(c.samples) - 1), DegradedCommits: c.least, DegradedCommitsAtMost: c.atMost,
				DegradedMicroseconds: c.milliseconds * 1000, DegradedSpans: c.spans, LastWriteAt: new(metav1.NewMicroTime(after(last))),
			}
			if diff := cmp.Diff(want, sum.Result(map[string]time.Time{"a": after(last)}).Nodes[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatAServerCommittedBeforeItsFirstSampleIsUncounted(t *testing.T) {
	var sum Commits
	sum.Start(begin)
	add := func(seconds float64, transactions int64, alone bool, up int64) {
		w := waiting{seconds, transactions, alone, 1}
		sum.Add(Sample[engine.Commits]{Node: "a", At: after(seconds), Counts: w.commits(up), Wrote: after(seconds)})
	}
	add(1, 100, false, 60)
	add(2, 200, false, 61)
	add(7, 900, true, 3) // another process, 3 s old
	add(8, 950, true, 4)
	add(9, 951, true, 5)
	got := sum.Result(map[string]time.Time{"a": after(9)}).Nodes[0]
	want := wire.NodeCommits{
		Name: "a", Samples: 5, DegradedCommits: 1, DegradedCommitsAtMost: 151, DegradedMicroseconds: 1_000_000,
		DegradedSpans: []wire.DegradedSpan{span(1, 9)}, LastWriteAt: new(metav1.NewMicroTime(after(9))),
		UncountedMicroseconds: 1_000_000 + 5_000_000, // before its first sample, and until that of the other process
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestASpanLastsUntilAnotherProcessAnswers, where nobody saw its end: that one's first sample tells nothing of the time before.
func TestASpanLastsUntilAnotherProcessAnswers(t *testing.T) {
	var sum Commits
	sum.Start(begin)
	for i, w := range []waiting{{1, 100, false, 1}, {2, 200, true, 2}, {3, 300, false, 3}, {7, 10, false, 1}} {
		up := int64(60 + i)
		if i == 3 {
			up = 2 // another process
		}
		sum.Add(Sample[engine.Commits]{Node: "a", At: after(w.seconds), Counts: w.commits(up), Wrote: after(w.seconds)})
	}
	if diff := cmp.Diff([]wire.DegradedSpan{span(1, 7)}, sum.Result(nil).Nodes[0].DegradedSpans); diff != "" {
		t.Error(diff)
	}
}

// TestASpanEndsWithTheLastWriteWhereAReplicaAnswersNext: the server was down, or had not been promoted. What the one before committed last
// is uncounted.
func TestASpanEndsWithTheLastWriteWhereAReplicaAnswersNext(t *testing.T) {
	for wrote, to := range map[float64]float64{2.5: 2.5, 1.5: 2} {
		var sum Commits
		sum.Start(begin)
		add := func(seconds, wrote float64, up int64, alone, replica bool) {
			counts := waiting{seconds, 100, alone, 1}.commits(up)
			counts.Waiting.Replica = replica
			sum.Add(Sample[engine.Commits]{Node: "a", At: after(seconds), Counts: counts, Wrote: after(wrote)})
		}
		add(1, 1, 60, true, false)
		add(2, 1.5, 61, true, false)
		add(60, wrote, 2, false, true) // another process
		add(61, wrote, 3, false, true)
		add(100, wrote, 42, false, false) // it was promoted, and waits for a standby
		got := sum.Result(map[string]time.Time{"a": after(101)}).Nodes[0]
		if diff := cmp.Diff([]wire.DegradedSpan{span(0, to)}, got.DegradedSpans); diff != "" {
			t.Errorf("with a last write at %g s: %s", wrote, diff)
		}
		if got.UncountedMicroseconds < 58_000_000 {
			t.Errorf("with a last write at %g s only %d µs are uncounted", wrote, got.UncountedMicroseconds)
		}
	}
}

// TestASpanLastsAsLongAsItMay: until the last write that was acknowledged, where no sample has shown its end.
func TestASpanLastsAsLongAsItMay(t *testing.T) {
	for name, c := range map[string]struct {
		last  bool // the last sample is alone
		wrote float64
		to    float64
	}{
		"it died alone":                    {true, 3.07, 3.07},
		"it acknowledged nothing since":    {true, 2.5, 3},
		"its processes may not know yet":   {false, 3.07, 3.07},
		"it acknowledged nothing at all":   {true, 0, 3},
		"it ends with a write of a sample": {true, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var sum Commits
			sum.Start(begin)
			for i, alone := range []bool{false, true, c.last} {
				w := waiting{float64(i + 1), int64(i), alone, 1}
				sum.Add(Sample[engine.Commits]{Node: "a", At: after(w.seconds), Counts: w.commits(100 + int64(i)), Wrote: after(c.wrote)})
			}
			wrote := map[string]time.Time{}
			if c.wrote > 0 {
				wrote["a"] = after(c.wrote)
			}
			got := sum.Result(wrote)
			if diff := cmp.Diff([]wire.DegradedSpan{span(1, c.to)}, got.Nodes[0].DegradedSpans); diff != "" || !got.OfTransactions {
				t.Errorf("of transactions: %t, %s", got.OfTransactions, diff)
			}
			if again := sum.Result(nil).Nodes[0].DegradedSpans; !again[0].To.Time.Equal(after(3)) {
				t.Errorf("a result has moved the span's end to %s", again[0].To)
			}
		})
	}
	var waits Commits
	waits.Start(begin)
	waits.Add(Sample[engine.Commits]{Node: "a", At: after(1), Counts: engine.Commits{Acknowledged: 3}})
	if waits.Result(nil).OfTransactions {
		t.Error("a server that counts waits is said to count none")
	}
}

func TestReplicasCommitNothingWhateverTheirSettings(t *testing.T) {
	var sum Commits
	replica := func(seconds float64, transactions int64, settings int, is bool) {
		w := waiting{seconds, transactions, false, settings}.commits(100 + int64(seconds))
		w.Waiting.Replica = is
		if seconds > 0 {
			sum.Start(begin)
		}
		sum.Add(Sample[engine.Commits]{Node: "a", At: after(seconds), Counts: w})
	}
	replica(-1, 10, 1, true)
	replica(1, 100, 2, true)
	replica(2, 1000, 3, true)
	replica(3, 10_000, 3, true)
	if n := sum.Result(nil).Nodes[0]; n.DegradedCommitsAtMost != 0 || n.DegradedSpans != nil || n.Samples != 3 {
		t.Errorf("%+v", n)
	}
	replica(4, 10_100, 3, false) // promoted, by settings that it had before
	replica(5, 10_200, 3, false)
	if n := sum.Result(nil).Nodes[0]; n.DegradedCommitsAtMost != 0 {
		t.Errorf("%+v", n)
	}
	replica(6, 10_300, 4, false)
	if n := sum.Result(nil).Nodes[0]; n.DegradedCommitsAtMost != 100 || n.DegradedCommits != 0 || cmp.Diff([]wire.DegradedSpan{span(5, 6)}, n.DegradedSpans) != "" {
		t.Errorf("%+v", n)
	}
}

func TestSpansAreBounded(t *testing.T) {
	var s degradedSum
	for i := range 10 * wire.MaxDegradedSpans {
		if i%5 == 0 {
			s.cover(after(float64(i)), after(float64(i+1)))
		}
	}
	if n := len(s.spans); n != wire.MaxDegradedSpans {
		t.Fatalf("%d spans", n)
	}
	if last := s.spans[len(s.spans)-1]; last.To.Time.Before(after(10*wire.MaxDegradedSpans - 10)) {
		t.Errorf("the last one ends at %s: what lies outside of all is said to have waited", last.To)
	}
}
