package distance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

// TestPacketsAreLateInAStage: what came on time in others does not make up for it, and what was late in one that does not count is no harm.
func TestPacketsAreLateInAStage(t *testing.T) {
	const warm, steady, many = 0, 1, 2
	for name, c := range map[string]struct {
		change  func(*evidence.Run)
		says    []string // nothing where the distance was kept
		unbound []string // stages that are not held against it, the discarded one too
	}{
		"none": {func(*evidence.Run) {}, nil, nil},
		"a few in each": {func(e *evidence.Run) {
			e.Recorder.Links[steady].LatePackets, e.Recorder.Links[many].LatePackets = 10, 1000
		}, nil, nil},
		"many in the one before": {func(e *evidence.Run) {
			e.Recorder.Links[warm].LatePackets, e.Recorder.Links[warm].HeldUpPackets = 2500, 1
		}, nil, []string{"warm"}},
		"half in the smallest":        {func(e *evidence.Run) { e.Recorder.Links[steady].LatePackets = 500 }, []string{"Stage steady: 500 of 1000 delayed packets reached db-0 late"}, []string{"steady"}},
		"many in the largest":         {func(e *evidence.Run) { e.Recorder.Links[many].LatePackets = 1001 }, []string{"Stage many: 1001 of 100000 delayed"}, []string{"many"}},
		"many, and hardly on average": {func(e *evidence.Run) { late(e, steady, 100, 10_000, 1000) }, nil, nil},
		"on average": {func(e *evidence.Run) {
			late(e, steady, 100, 10_000, 1001)
		}, []string{"Stage steady: delayed packets reached db-0 late; by 1001 µs on average, of a delay of 10000 µs."}, []string{"steady"}},
		"less than 5% of a long delay on average": {func(e *evidence.Run) { late(e, steady, 100, 40_000, 2000) }, nil, nil},
		"more of it": {func(e *evidence.Run) {
			late(e, steady, 100, 40_000, 2001)
		}, []string{"Stage steady: delayed packets reached db-0 late; by 2001 µs"}, []string{"steady"}},
		"one by a fault's length, and hardly on average": {func(e *evidence.Run) {
			late(e, steady, 1, 10_000, 200)
			e.Recorder.Links[steady].HeldUpPackets = 1
		}, []string{"Stage steady: 1 of 1000 delayed packets reached db-0 late; 1 were held up 100 ms"}, []string{"steady"}},
		"in several": {func(e *evidence.Run) {
			e.Recorder.Links[steady].LatePackets, e.Recorder.Links[many].HeldUpPackets = 11, 1
		}, []string{"Stage steady: 11 of 1000 delayed", "Stage many: 0 of 100000 delayed packets reached db-0 late; 1 were held up 100 ms"}, []string{"steady", "many"}},
		"one in a stage of a moment": {func(e *evidence.Run) {
			e.Recorder.Links[steady].DelayedPackets, e.Recorder.Links[steady].LatePackets = 0, 1
		}, []string{"Stage steady: 1 of 0 delayed"}, []string{"steady"}},
		"none in a stage of a moment": {func(e *evidence.Run) { e.Recorder.Links[steady].DelayedPackets = 0 }, nil, nil},
		"not known of some":           {func(e *evidence.Run) { e.Recorder.Links = e.Recorder.Links[many:] }, []string{"How many packets reached db-0 late is unknown in stage steady: "}, []string{"warm", "steady"}},
		"not known of a part of one": {func(e *evidence.Run) {
			e.Recorder.Links[steady].UncoveredMicroseconds, e.Recorder.Links[steady].LatePackets = 2_001_000, 500
		}, []string{"How many packets reached db-0 late is unknown in stage steady (for up to 2001 ms): "}, []string{"steady"}},
		"not known of a moment":                          {func(e *evidence.Run) { e.Recorder.Links[steady].UncoveredMicroseconds = 2_000_000 }, nil, nil},
		"not known of a part of one that does not count": {func(e *evidence.Run) { e.Recorder.Links[warm].UncoveredMicroseconds = 9_000_000 }, nil, []string{"warm"}},
		"not known since the recorder's results are of a part, as others tell": {func(e *evidence.Run) {
			e.Recorder.Links, e.Recorder.Incomplete = nil, "it was started anew"
		}, nil, []string{"warm", "steady", "many"}},
		"not known of one without a request": {func(e *evidence.Run) {
			e.Recorder.Links[steady].Stage, e.Recorder.Stages[steady].Requests = "another", 0
		}, nil, []string{"steady"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidencetest.Sweep()
			c.change(&e)
			found := distanceUnsound(e)
			if len(found) != len(c.says) {
				t.Fatalf("found %q, want %q", found, c.says)
			}
			for i, says := range c.says {
				if !strings.Contains(found[i].String(), says) {
					t.Errorf("found %q, want %q", found[i], says)
				}
			}
			var s v1alpha1.ReplicationExperimentStatus
			var unbound []string
			for i, asked := range e.Spec.Load.Stages {
				if stageDistance(e, &s, asked, e.Recorder.Stages[i]) == nil {
					unbound = append(unbound, asked.Name)
				}
			}
			if diff := cmp.Diff(c.unbound, unbound); diff != "" {
				t.Errorf("not held against the distance (-want +got):\n%s", diff)
			}
		})
	}
}

// late sets by how much the packets of a stage were late.
func late(e *evidence.Run, stage int, packets, meanDelay, meanLate int64) {
	l := &e.Recorder.Links[stage]
	l.LatePackets, l.DelayMicroseconds, l.LateMicroseconds = packets, meanDelay*l.DelayedPackets, meanLate*l.DelayedPackets
}

// TestLatePacketsBoundHighPercentiles: a percentile that leaves out fewer requests than packets were late may owe its length to them.
func TestLatePacketsBoundHighPercentiles(t *testing.T) {
	for late, want := range map[int64][]string{
		10:  nil,
		11:  {"p99Microseconds", "maxMicroseconds"},
		60:  {"p95Microseconds", "p99Microseconds", "maxMicroseconds"},
		110: {"p90Microseconds", "p95Microseconds", "p99Microseconds", "maxMicroseconds"},
	} {
		latency := &v1alpha1.LatencyStatus{P50Microseconds: 1, P95Microseconds: 2, P99Microseconds: 3, MaxMicroseconds: 4, P90Microseconds: ptr.To[int64](2)}
		s := v1alpha1.ReplicationExperimentStatus{
			Load: &v1alpha1.LoadStatus{Stages: []v1alpha1.StageStatus{{Name: "steady"}, {Name: "calm"}}},
			Distance: &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{{Name: "db-0", Stages: []v1alpha1.LinkedStageStatus{
				{Name: "steady", DelayedPackets: 1000, LatePackets: late}, {Name: "calm", DelayedPackets: 100_000},
			}}}},
		}
		s.Load.Stages[0].Latency, s.Load.Stages[1].Latency = latency, latency
		var b figure.Bounds
		b.AtLeast("load.stages[steady].latency.maxMicroseconds", 4, "the recorder stood still")
		Bound(&b, evidence.Run{}, &s)
		var got []string
		for _, one := range b {
			name, of := strings.CutPrefix(one.Figure, "load.stages[steady].latency.")
			if !of || one.AtLeast != nil && late > 10 {
				t.Errorf("%d of 1000 late: %+v", late, one)
			}
			if one.AtLeast == nil {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d of 1000 late (-want +got):\n%s", late, diff)
		}
	}
}
