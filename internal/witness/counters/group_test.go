package counters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// member is a sample of a server that has counted certification failures, forced aborts and milliseconds of flow control.
func member(failures, aborts, pausedMilliseconds, queue, queueMax, up int64) engine.GroupCounts {
	return engine.GroupCounts{
		CertificationFailures: failures, ForcedAborts: aborts, FlowControlPaused: time.Duration(pausedMilliseconds) * time.Millisecond,
		ReceiveQueue: queue, ReceiveQueueMax: queueMax, UpSeconds: up,
	}
}

func TestGroup(t *testing.T) {
	type sample struct {
		seconds  float64 // since the load's start, negative before
		counts   engine.GroupCounts
		counting bool
		wrote    float64 // the node's last write by then, 0 for none
	}
	// counted has conflicts, the covered and the paused milliseconds, and the samples.
	counted := func(failures, aborts, covered, paused, samples int64) wire.NodeGroup {
		return wire.NodeGroup{
			Name: "a", Samples: samples, CertificationFailures: failures, ForcedAborts: aborts,
			CoveredMicroseconds: covered * 1000, FlowControlPausedMicroseconds: paused * 1000,
		}
	}
	queue := func(n wire.NodeGroup, meanThousandths, least, most int64) *wire.NodeGroup {
		n.ReceiveQueueMeanThousandths, n.ReceiveQueueMax, n.ReceiveQueueMaxAtMost = &meanThousandths, &least, &most
		return &n
	}
	uncounted := func(n wire.NodeGroup, milliseconds int64) *wire.NodeGroup {
		n.UncountedMicroseconds = milliseconds * 1000
		return &n
	}
	for name, c := range map[string]struct {
		samples []sample
		wrote   float64 // at the end
		want    *wire.NodeGroup
	}{
		"samples before the load count for nothing": {[]sample{{-1, member(9, 9, 9000, 0, 50, 60), false, 0}}, 0, nil},
		"what was counted before the load is left out": {
			[]sample{{-1, member(3, 2, 500, 0, 50, 60), false, 0}, {1, member(5, 6, 700, 0, 50, 62), false, 0.9}}, 1, ptr.To(counted(2, 4, 0, 0, 1)),
		},
		"the time counts while a stage runs that counts": {
			[]sample{
				{-1, member(0, 0, 500, 0, 50, 60), false, 0},
				{1, member(0, 0, 600, 9, 50, 62), false, 0},
				{2, member(0, 0, 800, 4, 50, 63), true, 0},
				{3, member(0, 0, 1100, 1, 50, 64), true, 0},
				{5, member(0, 0, 1200, 2, 50, 66), true, 0},
				{6, member(0, 0, 1900, 30, 50, 67), false, 0},
			}, 0, queue(counted(0, 0, 3000, 400, 5), 2333, 4, 50),
		},
		"a maximum that grew is the longest queue": {
			[]sample{{1, member(0, 0, 0, 0, 5, 60), true, 0}, {2, member(0, 0, 0, 2, 17, 61), true, 0}}, 0, queue(counted(0, 0, 1000, 0, 2), 1000, 17, 17),
		},
		"more paused than there was time is the samples' fault": {
			[]sample{{1, member(0, 0, 0, 0, 0, 60), true, 0}, {2, member(0, 0, 1003, 0, 0, 61), true, 0}}, 0, queue(counted(0, 0, 1000, 1000, 2), 0, 0, 0),
		},
		"a member that was started again counts from 0, and is covered since": {
			[]sample{
				{-1, member(3, 2, 500, 0, 50, 60), false, 0},
				{1, member(5, 6, 700, 0, 50, 62), true, 1},
				{21, member(1, 1, 300, 40, 90, 4), true, 1.4},
				{22, member(2, 1, 400, 0, 90, 5), true, 1.4},
			}, 1.4, uncounted(*queue(counted(4, 5, 5000, 400, 3), 13333, 90, 90), 400),
		},
		"one that wrote again may have written until its new start": {
			[]sample{{-1, member(3, 2, 0, 0, 0, 60), false, 0}, {1, member(5, 6, 0, 0, 0, 62), false, 1}, {9, member(1, 0, 0, 0, 0, 3), false, 8}},
			8, uncounted(counted(3, 4, 0, 0, 2), 5000),
		},
		"a counter that went back tells of a new start": {
			[]sample{{1, member(5, 6, 700, 0, 50, 3), false, 0}, {4, member(5, 6, 300, 0, 50, 3), false, 0}}, 0, ptr.To(counted(5, 6, 0, 0, 2)),
		},
		"one that was started again and has overtaken its old counters": {
			[]sample{{-1, member(1, 1, 0, 0, 0, 60), false, 0}, {9, member(4, 3, 0, 0, 0, 5), false, 0}}, 0, ptr.To(counted(4, 3, 0, 0, 1)),
		},
		"a young one that was, between distant samples": {
			[]sample{{-1, member(1, 1, 0, 0, 0, 2), false, 0}, {29, member(4, 3, 0, 0, 0, 5), false, 0}}, 0, ptr.To(counted(4, 3, 0, 0, 1)),
		},
		"one first seen in the load gives its baseline": {
			[]sample{{1, member(7, 7, 700, 0, 0, 60), false, 0}, {2, member(8, 9, 700, 0, 0, 61), false, 0}}, 0, ptr.To(counted(1, 2, 0, 0, 2)),
		},
		"what it acknowledged before its baseline is uncounted": {
			[]sample{{3, member(7, 7, 700, 0, 0, 60), false, 2}}, 2, uncounted(counted(0, 0, 0, 0, 1), 2000),
		},
		"one first seen in the load that was started in it counts whole": {
			[]sample{{20, member(7, 8, 700, 0, 0, 4), false, 0}}, 0, ptr.To(counted(7, 8, 0, 0, 1)),
		},
		"what it acknowledged after its last sample is uncounted": {
			[]sample{{-1, member(0, 0, 0, 0, 0, 60), false, 0}, {1, member(1, 0, 0, 0, 0, 62), false, 1}}, 1.25, uncounted(counted(1, 0, 0, 0, 1), 250),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var g Group
			moment := func(seconds float64) time.Time {
				if seconds == 0 {
					return time.Time{}
				}
				return after(seconds)
			}
			for _, x := range c.samples {
				if x.seconds >= 0 {
					g.Start(begin)
				}
				g.Add(Sample[engine.GroupCounts]{Node: "a", At: after(x.seconds), Counts: x.counts, Counting: x.counting, Wrote: moment(x.wrote)})
			}
			var want []wire.NodeGroup
			if c.want != nil {
				want = append(want, *c.want)
			}
			if diff := cmp.Diff(want, g.Result(map[string]time.Time{"a": moment(c.wrote)}).Nodes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeadlocksThatAreNotCountedAreNot0.
func TestDeadlocksThatAreNotCountedAreNot0(t *testing.T) {
	sample := func(seconds float64, deadlocks *int64) Sample[engine.GroupCounts] {
		c := member(0, 0, 0, 0, 0, 60+int64(seconds))
		c.Deadlocks = deadlocks
		return Sample[engine.GroupCounts]{Node: "a", At: after(seconds), Counts: c}
	}
	for name, c := range map[string]struct{ before, after, want *int64 }{
		"counted":     {ptr.To[int64](3), ptr.To[int64](5), ptr.To[int64](2)},
		"not counted": {},
	} {
		var g Group
		g.Add(sample(-1, c.before))
		g.Start(begin)
		g.Add(sample(1, c.after))
		if diff := cmp.Diff(c.want, g.Result(nil).Nodes[0].Deadlocks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
