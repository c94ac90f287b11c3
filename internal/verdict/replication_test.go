package verdict

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// TestWhatIsSaidOfReplication gives which of lag and unacknowledged commits are stated, and what the reasons say of them.
func TestWhatIsSaidOfReplication(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*wire.RecorderResults)
		lag, commits bool
		says         []string // "!" before what must not be said
	}{
		"a lag without anything unseen needs no word": {
			func(w *wire.RecorderResults) { w.Lag = evidencetest.LagOf("db-1", 0, 0) }, true, true, []string{"!probe rows"},
		},
		"a replica that was behind at the end is named": {
			func(w *wire.RecorderResults) { w.Lag = evidencetest.LagOf("db-1", 5, 2) }, true, true,
			[]string{"Node db-1 had not shown 3 probe rows when the probe ended, the oldest after 7000 ms", "At least 2 probe rows were lost with their primary"},
		},
		"an old primary that was away is named": {
			func(w *wire.RecorderResults) {
				w.Lag = evidencetest.LagOf("db-1", 0, 0)
				w.Lag.Acknowledged = 300
				w.Lag.Nodes = append(w.Lag.Nodes, wire.NodeLag{Name: "db-0", Away: 35, FormerPrimary: true})
			}, true, true, []string{"Node db-0 (a former primary) was not yet a replica for 35 of 300 probe rows", "!No replica was"},
		},
		"rows without a replica make a lower bound": {
			func(w *wire.RecorderResults) {
				w.Lag = evidencetest.LagOf("db-1", 0, 0)
				w.Lag.Acknowledged, w.Lag.Unwatched = 300, 35
			}, true, true, []string{"No replica was watched for 35 of 300 probe rows: percentiles that leave out fewer rows are lower bounds."},
		},
		"rows that an old primary showed late have a bound": {
			func(w *wire.RecorderResults) {
				w.Lag = evidencetest.LagOf("db-1", 0, 0)
				w.Lag.Acknowledged, w.Lag.Unwatched, w.Lag.AtMostMicroseconds = 300, 2, ptr.To[int64](350_000)
			}, true, true, []string{"No replica was there for 2 of 300 probe rows: the longest lag is at most 350000 µs."},
		},
		"without a row that counts there is no lag": {
			func(w *wire.RecorderResults) { w.Lag = &wire.LagResult{Uncounted: 12} }, false, true,
			[]string{"Lag is not reported", "(0 rows in stages that count, 12 in others)"},
		},
		"without the probe nothing is said of the lag": {
			func(w *wire.RecorderResults) { w.Lag = nil }, false, true, []string{"!lag"},
		},
		"what was lost alone is stated without percentiles": {
			func(w *wire.RecorderResults) {
				of := wire.LagDistribution{Unseen: 4, Lost: 4}
				w.Lag = &wire.LagResult{LagDistribution: wire.LagDistribution{Unseen: 8, Lost: 8}, Nodes: []wire.NodeLag{{Name: "db-1", LagDistribution: of}, {Name: "db-2", LagDistribution: of}}}
			}, true, true, []string{"At least 4 probe rows were lost with their primary"},
		},
		"commits that no sample covers are told of": {
			func(*wire.RecorderResults) {}, false, true,
			[]string{"Node db-0 was not sampled for up to 121 ms: degradedCommits is a lower bound", "!Degraded", "!db-1 committed"},
		},
		"commits without a replica are told of": {
			func(w *wire.RecorderResults) { w.Commits.DegradedCommits = 3 }, false, true, []string{"Degraded: 3 commits"},
		},
		"a primary that was never sampled has unknown commits": {
			func(w *wire.RecorderResults) { w.Commits.Nodes[1].Samples = 0 }, false, false,
			[]string{"Degraded commits are not reported: node db-1 acknowledged writes"},
		},
		"a replica that was never sampled is no matter": {
			func(w *wire.RecorderResults) {
				w.Commits.Nodes = append(w.Commits.Nodes, wire.NodeCommits{Name: "db-2"})
			}, false, true, []string{"!db-2"},
		},
		"without a known primary no commits are stated": {
			func(w *wire.RecorderResults) {
				w.Commits.Nodes = []wire.NodeCommits{{Name: "db-0", Samples: 60}}
			}, false, false, []string{"no node is known to have acknowledged a write"},
		},
		"without semi-sync nothing is said of commits": {
			func(w *wire.RecorderResults) { w.Commits = nil }, false, false, []string{"!ommits"},
		},
		"of a recorder that was restarted nothing is said": {
			func(w *wire.RecorderResults) {
				w.Lag, w.Incomplete = evidencetest.LagOf("db-1", 5, 0), "it was restarted"
			}, false, false,
			[]string{"!ommits", "!lag"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			c.change(e.Recorder)
			Judge(e, &s)
			r := ptr.Deref(s.Replication, v1alpha1.ReplicationStatus{})
			if (r.Lag != nil) != c.lag || (r.DegradedCommits != nil) != c.commits {
				t.Errorf("lag %+v, unacknowledged commits %v; want them: %v, %v", r.Lag, r.DegradedCommits, c.lag, c.commits)
			}
			text := strings.Join(allSaid(s), " ")
			for _, says := range c.says {
				without, not := strings.CutPrefix(says, "!")
				if strings.Contains(text, without) == not {
					t.Errorf("the reasons are %q; want %q", s.Reasons, says)
				}
			}
		})
	}
}

// TestWhatNoSampleCoversHasNoUpperBound: a primary that died may have let any number of commits go on after its last sample.
func TestWhatNoSampleCoversHasNoUpperBound(t *testing.T) {
	for uncounted, want := range map[int64]string{0: "3 to 7", 1: "at least 3"} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		e.Recorder.Commits.DegradedCommits, e.Recorder.Commits.DegradedCommitsAtMost = 3, 7
		for i := range e.Recorder.Commits.Nodes {
			e.Recorder.Commits.Nodes[i].UncountedMicroseconds = uncounted
		}
		Judge(e, &s)
		if got := s.Replication; got == nil || *got.DegradedCommits != 3 || boundsOf(s, "replication.degradedCommits") != want {
			t.Errorf("of %d µs nothing is known: %+v, want %s", uncounted, got, want)
		}
	}
}

func TestWithoutADegradedCommitNoTimeIsDegraded(t *testing.T) {
	for uncounted, want := range map[int64]string{0: "exact", 1: "at least 0"} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Commits.OfTransactions = true
			e.Recorder.Commits.Nodes[0].UncountedMicroseconds = uncounted
		})
		if got := boundsOf(s, "replication.degradedMilliseconds"); got != want {
			t.Errorf("%d µs without a sample: %s, want %s", uncounted, got, want)
		}
	}
}
