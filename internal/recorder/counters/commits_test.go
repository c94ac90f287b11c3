package counters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

func commits(acknowledged, unacknowledged, upSeconds int64) engine.Commits {
	return engine.Commits{Acknowledged: acknowledged, Unacknowledged: unacknowledged, UpSeconds: upSeconds, WaitsAreCommits: true}
}

// closed is a sample of a server that takes no writes.
func closed(acknowledged, unacknowledged, upSeconds int64) engine.Commits {
	c := commits(acknowledged, unacknowledged, upSeconds)
	c.Closed = true
	return c
}

// silent is what a server tells that does not answer.
var silent engine.Commits

func TestCommits(t *testing.T) {
	type sample struct {
		node    string
		seconds float64 // since the load's start, negative before
		commits engine.Commits
		wrote   float64 // the node's last write by then, 0 for none
	}
	node := func(name string, yes, no, samples int64) wire.NodeCommits {
		return wire.NodeCommits{
			Name: name, AcknowledgedWaits: yes, UnacknowledgedWaits: no, DegradedCommits: no, DegradedCommitsAtMost: no, Samples: samples,
		}
	}
	uncounted := func(n wire.NodeCommits, milliseconds int64) wire.NodeCommits {
		n.UncountedMicroseconds = milliseconds * 1000
		return n
	}
	wrote := func(n wire.NodeCommits, seconds float64, uncountedMilliseconds int64) wire.NodeCommits {
		n.LastWriteAt = new(metav1.NewMicroTime(after(seconds)))
		return uncounted(n, uncountedMilliseconds)
	}
	atMost := func(n wire.NodeCommits, most int64) wire.NodeCommits {
		n.DegradedCommitsAtMost = most
		return n
	}
	for name, c := range map[string]struct {
		samples []sample
		wrote   map[string]float64 // last writes at the end
		want    []wire.NodeCommits
	}{
		"without a sample nothing is known": {},
		"samples before the load count for nothing": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}},
		},
		"a node that wrote and was not sampled since the load began says so": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}},
			wrote:   map[string]float64{"a": 2, "b": 3},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 0), 2, 3000), wrote(node("b", 0, 0, 0), 3, 0)},
		},
		"what was counted before the load is left out": {
			samples: []sample{{"a", -2, commits(90, 2, 59), 0}, {"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(130, 5, 62), 0.9}},
			wrote:   map[string]float64{"a": 1},
			want:    []wire.NodeCommits{wrote(node("a", 30, 0, 1), 1, 0)},
		},
		"nodes are kept apart": {
			samples: []sample{
				{"b", -1, commits(0, 0, 60), 0},
				{"a", -1, commits(100, 0, 60), 0},
				{"b", 1, commits(3, 2, 62), 0},
				{"a", 1, commits(110, 1, 62), 0},
			},
			want: []wire.NodeCommits{node("a", 10, 1, 1), node("b", 3, 2, 1)},
		},
		"what a node acknowledged after its last sample is uncounted": {
			samples: []sample{{"a", -1, commits(100, 0, 60), 0}, {"a", 1, commits(110, 1, 62), 1}},
			wrote:   map[string]float64{"a": 1.25},
			want:    []wire.NodeCommits{wrote(node("a", 10, 1, 1), 1.25, 250)},
		},
		"so it is of one that took no writes at that sample": {
			samples: []sample{{"a", -1, closed(100, 0, 60), 0}, {"a", 1, closed(100, 0, 62), 0}},
			wrote:   map[string]float64{"a": 1.25},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 1), 1.25, 250)},
		},
		"a node first seen in the load gives its baseline": {
			samples: []sample{{"a", 1, commits(100, 7, 60), 0}, {"a", 2, commits(104, 8, 61), 0}},
			want:    []wire.NodeCommits{uncounted(node("a", 4, 1, 2), 1000)},
		},
		"one that takes no writes is not taken to have had any before": {
			samples: []sample{{"a", 1, closed(100, 7, 60), 0}, {"a", 2, closed(100, 7, 61), 0}},
			want:    []wire.NodeCommits{node("a", 0, 0, 2)},
		},
		"but for those that it acknowledged": {
			samples: []sample{{"a", 3, closed(100, 7, 60), 2}, {"a", 4, closed(100, 7, 61), 2}},
			wrote:   map[string]float64{"a": 2},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 2), 2, 3000)},
		},
		"one that took no writes at its last sample, and then some, may have had others under way until it was started again": {
			samples: []sample{{"a", -1, closed(4, 0, 60), 0}, {"a", 1, closed(4, 0, 62), 0}, {"a", 9, closed(0, 0, 3), 1.4}},
			wrote:   map[string]float64{"a": 1.4},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 2), 1.4, 6000)},
		},
		"and until it was asked in vain": {
			samples: []sample{{"a", -1, closed(0, 0, 60), 0}, {"a", 1, closed(0, 0, 62), 0}, {"a", 7, silent, 1.4}},
			wrote:   map[string]float64{"a": 1.4},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 1), 1.4, 6000)},
		},
		"one that took no writes at its last sample and acknowledged none had none under way": {
			samples: []sample{{"a", -1, closed(0, 0, 60), 0}, {"a", 1, closed(0, 0, 62), 0}, {"a", 7, silent, 0.5}},
			wrote:   map[string]float64{"a": 0.5},
			want:    []wire.NodeCommits{wrote(node("a", 0, 0, 1), 0.5, 0)},
		},
		"a node first seen in the load that was started in it counts whole": {
			samples: []sample{{"a", 20, commits(6, 7, 4), 0}},
			want:    []wire.NodeCommits{uncounted(node("a", 6, 7, 1), 17_000)},
		},
		"a counter that went back counts from 0": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 0}, {"a", 9, commits(20, 0, 3), 0}},
			want:    []wire.NodeCommits{uncounted(node("a", 70, 0, 2), 6000)},
		},
		"what a primary committed between its last sample and its death is uncounted, though it came back": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 1}, {"a", 9, closed(0, 0, 3), 1.4}, {"a", 10, closed(0, 0, 4), 1.4}},
			wrote:   map[string]float64{"a": 1.4},
			want:    []wire.NodeCommits{wrote(node("a", 50, 0, 3), 1.4, 6000)},
		},
		"a primary that came back and wrote again may have written until its new start": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 1}, {"a", 9, commits(3, 0, 3), 8}},
			wrote:   map[string]float64{"a": 8},
			want:    []wire.NodeCommits{wrote(node("a", 53, 0, 2), 8, 6000)},
		},
		"a primary that acknowledged nothing before it died may have had commits under way": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 0.9}, {"a", 9, closed(0, 0, 3), 0.9}},
			wrote:   map[string]float64{"a": 0.9},
			want:    []wire.NodeCommits{wrote(node("a", 50, 0, 2), 0.9, 6000)},
		},
		"and so may one that was started again at once": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 0.9}, {"a", 9, closed(0, 0, 9), 0.9}},
			wrote:   map[string]float64{"a": 0.9},
			want: []wire.NodeCommits{func() wire.NodeCommits {
				n := wrote(node("a", 50, 0, 2), 0.9, 0)
				n.UncountedMicroseconds = 1
				return n
			}()},
		},
		"and one that did not come back": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 0.9}, {"a", 2, silent, 0.9}, {"a", 7, silent, 0.9}},
			wrote:   map[string]float64{"a": 0.9},
			want:    []wire.NodeCommits{wrote(node("a", 50, 0, 1), 0.9, 6000)},
		},
		"and one that died before it was sampled in the load": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 2, silent, 0}, {"a", 7, silent, 0}},
			want:    []wire.NodeCommits{uncounted(node("a", 0, 0, 0), 7000)},
		},
		"one that was silent for a while has counted on": {
			samples: []sample{{"a", -1, commits(100, 5, 60), 0}, {"a", 1, commits(150, 5, 62), 0.9}, {"a", 2, silent, 0.9}, {"a", 7, commits(150, 7, 68), 0.9}},
			wrote:   map[string]float64{"a": 0.9},
			want:    []wire.NodeCommits{wrote(node("a", 50, 2, 2), 0.9, 0)},
		},
		"an old primary that took no writes any more when its data were replaced had nothing under way": {
			samples: []sample{
				{"a", -1, commits(100, 5, 60), 0},
				{"a", 1, commits(150, 5, 62), 0.9},
				{"a", 2, closed(151, 5, 63), 0.9},
				{"a", 9, closed(0, 0, 3), 0.9},
				{"a", 10, silent, 0.9},
			},
			wrote: map[string]float64{"a": 0.9},
			want:  []wire.NodeCommits{wrote(node("a", 51, 0, 3), 0.9, 0)},
		},
		"a server that was started again and has overtaken its old counter, or whose clock was set back, has counted the difference at least": {
			samples: []sample{{"a", -1, commits(10, 2, 60), 0}, {"a", 9, commits(40, 3, 5), 0}},
			want:    []wire.NodeCommits{uncounted(atMost(node("a", 30, 1, 1), 3), 9000)},
		},
		"a young server that may have been restarted between distant samples has counted the difference at least": {
			samples: []sample{{"a", -1, commits(10, 2, 2), 0}, {"a", 29, commits(40, 3, 5), 0}},
			want:    []wire.NodeCommits{uncounted(atMost(node("a", 30, 1, 1), 3), 29_000)},
		},
		"a server whose clock was set back counts nothing twice": {
			samples: []sample{
				{"a", -1, commits(10, 2, 60), 0},
				{"a", 1, commits(12, 3, 62), 0},
				{"a", 2, commits(13, 3, 30), 0},
				{"a", 3, commits(14, 4, 31), 0},
			},
			want: []wire.NodeCommits{uncounted(atMost(node("a", 4, 2, 3), 5), 1000)},
		},
		"a replica whose clock was set back has nothing uncounted": {
			samples: []sample{{"a", -1, closed(0, 0, 60), 0}, {"a", 1, closed(0, 0, 62), 0}, {"a", 2, closed(0, 0, 30), 0}},
			want:    []wire.NodeCommits{node("a", 0, 0, 2)},
		},
		"an uptime cut to whole seconds is no restart": {
			samples: []sample{{"a", -1, commits(10, 0, 60), 0}, {"a", 0.9, commits(11, 0, 61), 0}, {"a", 2.8, commits(12, 0, 62), 0}},
			want:    []wire.NodeCommits{node("a", 2, 0, 2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s Commits
			moment := func(seconds float64) time.Time {
				if seconds == 0 {
					return time.Time{}
				}
				return after(seconds)
			}
			for _, x := range c.samples {
				if x.seconds >= 0 {
					s.Start(begin)
				}
				s.Add(Sample[engine.Commits]{Node: x.node, At: after(x.seconds), Missed: x.commits == silent, Counts: x.commits, Wrote: moment(x.wrote)})
			}
			writers := map[string]time.Time{}
			for name, seconds := range c.wrote {
				writers[name] = moment(seconds)
			}
			got := s.Result(writers)
			if diff := cmp.Diff(c.want, got.Nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			var least, most int64
			for _, n := range c.want {
				least += n.DegradedCommits
				most += n.DegradedCommitsAtMost
			}
			if got.DegradedCommits != least || got.DegradedCommitsAtMost != most {
				t.Errorf("in all %d to %d, want %d to %d", got.DegradedCommits, got.DegradedCommitsAtMost, least, most)
			}
		})
	}
}

// TestCommitsThatWaitTogether: a wait may be that of many commits, which are seen as transactions.
func TestCommitsThatWaitTogether(t *testing.T) {
	type sample struct{ yes, no, transactions int64 }
	for name, c := range map[string]struct {
		samples     []sample
		least, most int64
	}{
		"all acknowledged":                     {[]sample{{10, 0, 100}, {20, 0, 200}}, 0, 0},
		"some of either in one interval":       {[]sample{{10, 5, 100}}, 5, 100},
		"fewer seen than waited":               {[]sample{{10, 5, 3}}, 5, 5},
		"a while without any acknowledgement":  {[]sample{{10, 0, 100}, {10, 10, 200}, {10, 20, 300}, {10, 30, 380}}, 180, 280},
		"and acknowledged again":               {[]sample{{0, 10, 100}, {0, 20, 200}, {5, 21, 260}, {15, 21, 330}, {25, 21, 400}}, 100, 330},
		"a wait whose commits are seen later":  {[]sample{{10, 0, 100}, {10, 1, 100}, {10, 1, 140}, {20, 1, 240}}, 1, 40},
		"a replica that applies is no primary": {[]sample{{0, 0, 100}, {0, 0, 200}, {0, 1, 300}, {0, 1, 300}}, 1, 100},
	} {
		t.Run(name, func(t *testing.T) {
			var s Commits
			s.Add(Sample[engine.Commits]{Node: "a", At: after(-1), Counts: engine.Commits{UpSeconds: 100}})
			s.Start(begin)
			for i, x := range c.samples {
				counts := engine.Commits{Acknowledged: x.yes, Unacknowledged: x.no, Transactions: x.transactions, UpSeconds: 101 + int64(i)}
				s.Add(Sample[engine.Commits]{Node: "a", At: after(float64(i)), Counts: counts})
			}
			got := s.Result(nil)
			if got.DegradedCommits != c.least || got.DegradedCommitsAtMost != c.most {
				t.Errorf("%d to %d, want %d to %d", got.DegradedCommits, got.DegradedCommitsAtMost, c.least, c.most)
			}
		})
	}
}
