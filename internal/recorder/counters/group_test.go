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

// missed is what a server tells that does not answer.
var missed engine.GroupCounts

func TestGroup(t *testing.T) {
	type sample struct {
		seconds  float64            // since the load's start, negative before
		counts   engine.GroupCounts // none when it was missed
		counting bool
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
	// unseen adds for how long no sample tells of a server, and of the stages that count.
	unseen := func(n wire.NodeGroup, uncounted, uncovered int64) *wire.NodeGroup {
		n.UncountedMicroseconds, n.UncoveredMicroseconds = uncounted*1000, uncovered*1000
		return &n
	}
	for name, c := range map[string]struct {
		samples []sample
		want    *wire.NodeGroup
	}{
		"samples before the load count for nothing": {[]sample{{-1, member(9, 9, 9000, 0, 50, 60), false}}, nil},
		"what was counted before the load is left out": {
			[]sample{{-1, member(3, 2, 500, 0, 50, 60), false}, {1, member(5, 6, 700, 0, 50, 62), false}}, ptr.To(counted(2, 4, 0, 0, 1)),
		},
		"the time counts while a stage runs that counts": {
			[]sample{
				{-1, member(0, 0, 500, 0, 50, 60), false},
				{1, member(0, 0, 600, 9, 50, 62), false},
				{2, member(0, 0, 800, 4, 50, 63), true},
				{3, member(0, 0, 1100, 1, 50, 64), true},
				{4, missed, true},
				{5, member(0, 0, 1200, 2, 50, 66), true},
				{6, member(0, 0, 1900, 30, 50, 67), false},
			}, queue(counted(0, 0, 3000, 400, 5), 2333, 4, 50),
		},
		"a maximum that grew is the longest queue": {
			[]sample{{-1, member(0, 0, 0, 0, 5, 60), false}, {1, member(0, 0, 0, 0, 5, 62), true}, {2, member(0, 0, 0, 2, 17, 63), true}},
			queue(counted(0, 0, 1000, 0, 2), 1000, 17, 17),
		},
		"more paused than there was time is the samples' fault": {
			[]sample{{-1, member(0, 0, 0, 0, 0, 60), false}, {1, member(0, 0, 0, 0, 0, 62), true}, {2, member(0, 0, 1003, 0, 0, 63), true}},
			queue(counted(0, 0, 1000, 1000, 2), 0, 0, 0),
		},
		"what an answer that came late tells of flow control is of the time after its question": {
			[]sample{
				{-1, member(0, 0, 0, 0, 0, 60), false},
				{1, member(0, 0, 0, 0, 0, 62), true},
				{2, member(0, 0, 1400, 0, 0, 63), true},
				{3, member(0, 0, 2100, 0, 0, 64), true},
				{4, member(0, 0, 2200, 0, 0, 65), true},
			}, queue(counted(0, 0, 3000, 2200, 4), 0, 0, 0),
		},
		"and is not of a stage that comes after one that is discarded": {
			[]sample{
				{-1, member(0, 0, 0, 0, 0, 60), false},
				{1, member(0, 0, 0, 0, 0, 62), true},
				{2, member(0, 0, 1400, 0, 0, 63), true},
				{3, member(0, 0, 1400, 0, 0, 64), false},
				{4, member(0, 0, 1400, 0, 0, 65), true},
				{5, member(0, 0, 1500, 0, 0, 66), true},
			}, queue(counted(0, 0, 2000, 1100, 5), 0, 0, 0),
		},
		"nor of the process that came after its own": {
			[]sample{
				{-1, member(0, 0, 0, 0, 0, 60), false},
				{1, member(0, 0, 0, 0, 0, 62), true},
				{2, member(0, 0, 1400, 0, 0, 63), true},
				{12, member(0, 0, 100, 0, 0, 4), true},
				{13, member(0, 0, 200, 0, 0, 5), true},
			}, unseen(*queue(counted(0, 0, 5000, 1200, 4), 0, 0, 0), 7000, 7000),
		},
		"nor is anything of a time in which another process began, or its clock was set back": {
			[]sample{
				{-1, member(0, 0, 0, 0, 0, 60), false},
				{1, member(0, 0, 0, 0, 0, 62), true},
				{2, member(0, 0, 1400, 0, 0, 63), true},
				{12, member(0, 0, 3500, 0, 0, 4), true},
				{13, member(0, 0, 3600, 0, 0, 5), true},
			}, unseen(*queue(counted(0, 0, 2000, 1100, 4), 0, 0, 0), 10_000, 10_000),
		},
		"a member that was started again counts from 0, and is covered since": {
			[]sample{
				{-1, member(3, 2, 500, 0, 50, 60), false},
				{1, member(5, 6, 700, 0, 50, 62), true},
				{11, missed, true},
				{21, member(1, 1, 300, 40, 90, 4), true},
				{22, member(2, 1, 400, 0, 90, 5), true},
			}, unseen(*queue(counted(4, 5, 4000, 400, 3), 13333, 90, 90), 17_000, 17_000),
		},
		"one that was idle, or refused all, before it died": {
			[]sample{{-1, member(3, 2, 0, 0, 0, 60), false}, {1, member(5, 6, 0, 0, 0, 62), false}, {9, member(1, 0, 0, 0, 0, 0), false}},
			unseen(counted(3, 4, 0, 0, 2), 8000, 0),
		},
		"one that was started again at once": {
			[]sample{{-1, member(3, 2, 0, 0, 0, 60), false}, {1, member(5, 6, 0, 0, 0, 62), false}, {9, member(1, 0, 0, 0, 0, 9), false}},
			&wire.NodeGroup{Name: "a", Samples: 2, CertificationFailures: 3, ForcedAborts: 4, UncountedMicroseconds: 1},
		},
		"a counter that went back tells of a new start": {
			[]sample{{-1, member(5, 6, 700, 0, 50, 3), false}, {2, member(5, 6, 300, 0, 50, 3), false}}, &wire.NodeGroup{Name: "a", Samples: 1, CertificationFailures: 5, ForcedAborts: 6, UncountedMicroseconds: 1},
		},
		"one that was started again and has overtaken its old counters, or whose clock was set back, has counted the difference at least": {
			[]sample{{-1, member(1, 1, 0, 0, 0, 60), false}, {9, member(4, 3, 0, 0, 0, 5), false}}, unseen(counted(3, 2, 0, 0, 1), 9000, 0),
		},
		"one whose clock was set back counts nothing twice": {
			[]sample{
				{-1, member(5, 6, 0, 0, 0, 60), false},
				{1, member(7, 8, 0, 0, 0, 62), true},
				{2, member(7, 9, 500, 0, 0, 33), true},
				{3, member(8, 9, 600, 0, 0, 34), true},
			}, unseen(*queue(counted(3, 3, 1000, 100, 3), 0, 0, 0), 1000, 1000),
		},
		"one whose clock was set back to before its start counts nothing twice": {
			[]sample{{-1, member(5, 6, 0, 0, 0, 60), false}, {1, member(7, 8, 0, 0, 0, -3000), false}, {2, member(8, 8, 0, 0, 0, -2999), false}},
			unseen(counted(3, 2, 0, 0, 2), 2000, 0),
		},
		"a young one that was, between distant samples": {
			[]sample{{-1, member(1, 1, 0, 0, 0, 2), false}, {29, member(4, 3, 0, 0, 0, 5), false}}, unseen(counted(3, 2, 0, 0, 1), 29_000, 0),
		},
		"a young one that was, and is older all the same": {
			[]sample{{-1, member(1, 1, 0, 0, 0, 2), false}, {4.5, member(4, 3, 0, 0, 0, 5), false}}, unseen(counted(3, 2, 0, 0, 1), 4500, 0),
		},
		"one first seen in the load gives its baseline": {
			[]sample{{-1, missed, false}, {1, missed, true}, {3, member(7, 7, 700, 0, 0, 60), true}, {4, member(8, 9, 800, 0, 0, 61), true}},
			unseen(*queue(counted(1, 2, 1000, 100, 2), 0, 0, 0), 3000, 2000),
		},
		"one first seen in the load that was started in it counts whole": {
			[]sample{{20, member(7, 8, 700, 0, 0, 4), false}}, unseen(counted(7, 8, 0, 0, 1), 17_000, 0),
		},
		"one first seen in the load that may have been started before it gives its baseline": {
			[]sample{{3, member(7, 8, 700, 0, 0, 2), false}}, unseen(counted(0, 0, 0, 0, 1), 3000, 0),
		},
		"one that did not come back": {
			[]sample{{-1, member(0, 0, 0, 0, 0, 60), false}, {1, member(1, 0, 300, 0, 0, 62), true}, {2, missed, true}, {7, missed, true}, {8, missed, false}},
			unseen(*queue(counted(1, 0, 0, 0, 1), 0, 0, 0), 7000, 6000),
		},
		"one that was away in a stage that is discarded is not covered in it, and what else it missed stays so": {
			[]sample{
				{-1, member(0, 0, 0, 0, 0, 60), false},
				{1, member(0, 0, 0, 0, 0, 62), true},
				{2, missed, false},
				{11, missed, false},
				{12, member(0, 0, 9000, 0, 0, 73), true},
				{13, missed, true},
				{17, missed, true},
			}, unseen(*queue(counted(0, 0, 0, 0, 2), 0, 0, 0), 5000, 5000),
		},
		"one that never answered": {[]sample{{-1, missed, false}, {1, missed, true}, {4, missed, true}, {5, missed, false}}, unseen(counted(0, 0, 0, 0, 0), 5000, 3000)},
	} {
		t.Run(name, func(t *testing.T) {
			var g Group
			for _, x := range c.samples {
				if x.seconds >= 0 {
					g.Start(begin)
				}
				g.Add(Sample[engine.GroupCounts]{Node: "a", At: after(x.seconds), Missed: x.counts == missed, Counts: x.counts, Counting: x.counting})
			}
			var want []wire.NodeGroup
			if c.want != nil {
				want = append(want, *c.want)
			}
			if diff := cmp.Diff(want, g.Result(nil).Nodes); diff != "" {
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
		"counted":                    {ptr.To[int64](3), ptr.To[int64](5), ptr.To[int64](2)},
		"counted by another process": {ptr.To[int64](3), ptr.To[int64](2), ptr.To[int64](2)},
		"not counted":                {},
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
