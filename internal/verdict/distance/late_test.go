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
	"replab.dev/internal/wire"
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
		"many, and hardly on average": {func(e *evidence.Run) { late(e, steady, 100, 10_000, 500) }, nil, nil},
		"on average": {func(e *evidence.Run) {
			late(e, steady, 100, 10_000, 501)
		}, []string{"Stage steady: packets to db-0 were late by 501 µs on average, with a delay of 10000 µs."}, []string{"steady"}},
		"less than 5% of a long delay on average": {func(e *evidence.Run) { late(e, steady, 100, 40_000, 2000) }, nil, nil},
		"more of it": {func(e *evidence.Run) {
			late(e, steady, 100, 40_000, 2001)
		}, []string{"Stage steady: packets to db-0 were late by 2001 µs"}, []string{"steady"}},
		"punctual from afar, and late from nearby": {func(e *evidence.Run) {
			late(e, steady, 100, 10_000, 501)
			late(e, steady, 100, 100_000, 600)
		}, []string{"Stage steady: packets to db-0 were late by 501 µs on average, with a delay of 10000 µs."}, []string{"steady"}},
		"late in a hundredth of the packets": {func(e *evidence.Run) {
			late(e, steady, 10, 100_000, 600)
			e.Recorder.Links[steady].Delays = append(e.Recorder.Links[steady].Delays, wire.DelayCounts{DelayMicroseconds: 10_000, Packets: 9, LateMicroseconds: 9_000_000})
		}, nil, nil},
		"one by a fault's length, and hardly on average": {func(e *evidence.Run) {
			late(e, steady, 1, 10_000, 200)
			e.Spec.Faults, e.Recorder.Links[steady].HeldUpPackets = make([]v1alpha1.Fault, 1), 1
		}, []string{"Stage steady: 1 of 1000 delayed packets reached db-0 late, and 1 by 100 ms or more"}, []string{"steady"}},
		"one by a fault's length, without faults": {func(e *evidence.Run) {
			late(e, steady, 1, 10_000, 200)
			e.Recorder.Links[steady].HeldUpPackets = 1
		}, nil, nil},
		"several by a fault's length, without faults": {func(e *evidence.Run) {
			late(e, steady, 5, 10_000, 501)
			e.Recorder.Links[steady].HeldUpPackets = 5
		}, []string{"Stage steady: packets to db-0 were late by 501 µs on average"}, []string{"steady"}},
		"in several": {func(e *evidence.Run) {
			e.Recorder.Links[steady].LatePackets, e.Recorder.Links[many].HeldUpPackets = 11, 1
			e.Spec.Faults = make([]v1alpha1.Fault, 1)
		}, []string{"Stage steady: 11 of 1000 delayed", "Stage many: 0 of 100000 delayed packets reached db-0 late, and 1 by 100 ms or more"}, []string{"steady", "many"}},
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
	l.LatePackets = packets
	l.Delays = append(l.Delays, wire.DelayCounts{DelayMicroseconds: meanDelay, Packets: l.DelayedPackets, LateMicroseconds: meanLate * l.DelayedPackets})
}

// TestLatePacketsBoundPercentiles: those that may owe their length to late packets. Of requests, each late packet of each node may have met another.
func TestLatePacketsBoundPercentiles(t *testing.T) {
	three := func() *v1alpha1.LagStatus {
		return &v1alpha1.LagStatus{P50Microseconds: ptr.To[int64](1), P99Microseconds: ptr.To[int64](3), MaxMicroseconds: ptr.To[int64](4)}
	}
	for name, c := range map[string]struct {
		late, requests int64
		want           []string
	}{
		"none": {0, 1000, nil},
		"1%": {10, 1000, []string{
			"nodes[db-0].lag.max", "replication.lag.max", "load.latency.max", "load.stages[steady].latency.max",
		}},
		"2% of the packets to one node": {20, 10_000, []string{
			"nodes[db-0].lag.p99", "nodes[db-0].lag.max", "replication.lag.p99", "replication.lag.max", "replication.lagSizes[100].totalP99",
			"load.latency.max", "load.stages[steady].latency.max",
		}},
		"2% of the packets, in 4% of the requests": {20, 500, []string{
			"nodes[db-0].lag.p99", "nodes[db-0].lag.max", "replication.lag.p99", "replication.lag.max", "replication.lagSizes[100].totalP99",
			"load.latency.p90", "load.latency.p95", "load.latency.p99", "load.latency.max", "load.latency.mean",
			"load.stages[steady].latency.p90", "load.stages[steady].latency.p95", "load.stages[steady].latency.p99", "load.stages[steady].latency.max",
			"load.stages[steady].latency.mean",
		}},
		"in 6%": {10, 166, []string{
			"nodes[db-0].lag.max", "replication.lag.max",
			"load.latency.p50", "load.latency.p90", "load.latency.p95", "load.latency.p99", "load.latency.max", "load.latency.mean",
			"load.stages[steady].latency.p50", "load.stages[steady].latency.p90", "load.stages[steady].latency.p95", "load.stages[steady].latency.p99", "load.stages[steady].latency.max",
			"load.stages[steady].latency.mean",
		}},
		"6% of the packets, in few of the requests": {60, 100_000, []string{
			"nodes[db-0].lag.p50", "nodes[db-0].lag.p99", "nodes[db-0].lag.max", "replication.lag.p50", "replication.lag.p99", "replication.lag.max",
			"replication.lagSizes[100].totalP50", "replication.lagSizes[100].totalP99", "load.latency.max", "load.stages[steady].latency.max",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			figures := v1alpha1.StageFigures{Requests: c.requests, Latency: &v1alpha1.LatencyStatus{
				P50Microseconds: 1, P95Microseconds: 2, P99Microseconds: 3, MaxMicroseconds: 4, P90Microseconds: ptr.To[int64](2),
			}}
			calm := v1alpha1.StageFigures{Requests: 100_000, Latency: figures.Latency}
			stages := []v1alpha1.LinkedStageStatus{{Name: "steady", DelayedPackets: 1000, LatePackets: c.late}, {Name: "warm", Discarded: true, DelayedPackets: 1, LatePackets: 1}}
			s := v1alpha1.ReplicationExperimentStatus{
				Load: &v1alpha1.LoadStatus{StageFigures: figures, Stages: []v1alpha1.StageStatus{{Name: "steady", StageFigures: figures}, {Name: "calm", StageFigures: calm}}},
				Replication: &v1alpha1.ReplicationStatus{
					Lag: three(), LagSizes: []v1alpha1.LagSizeStatus{{Name: "100", TotalP50Microseconds: ptr.To[int64](1), TotalP99Microseconds: ptr.To[int64](2)}},
				},
				Nodes:    []v1alpha1.NodeStatus{{Name: "db-0", Lag: three()}, {Name: "db-1", Lag: three()}},
				Distance: &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{{Name: "db-0", Stages: stages}, {Name: "db-1", Stages: []v1alpha1.LinkedStageStatus{{Name: "steady", DelayedPackets: 1000}}}}},
			}
			var b figure.Bounds
			Bound(&b, evidence.Run{}, &s)
			var got []string
			for _, one := range b {
				if one.AtLeast != nil || one.AtMost == nil {
					t.Errorf("not a maximum: %+v", one)
				}
				got = append(got, strings.TrimSuffix(one.Figure, "Microseconds"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("maximums (-want +got):\n%s", diff)
			}
		})
	}
}

// TestALatePacketAtAnyNodeBoundsTheMaximum of the lag.
func TestALatePacketAtAnyNodeBoundsTheMaximum(t *testing.T) {
	s := v1alpha1.ReplicationExperimentStatus{
		Replication: &v1alpha1.ReplicationStatus{Lag: &v1alpha1.LagStatus{MaxMicroseconds: ptr.To[int64](4)}},
		Distance: &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{
			{Name: "db-0", Stages: []v1alpha1.LinkedStageStatus{{Name: "steady", DelayedPackets: 1000}}},
			{Name: "db-1", Stages: []v1alpha1.LinkedStageStatus{{Name: "steady", DelayedPackets: 1000, LatePackets: 1}}},
		}},
	}
	var b figure.Bounds
	Bound(&b, evidence.Run{}, &s)
	s.Bounds = b
	if f := figure.Read(&s, "replication.lag.maxMicroseconds"); f.AtLeast != nil || f.AtMost == nil {
		t.Errorf("%+v", f)
	}
}

// TestNoBoundIsLeft of a figure that late packets and a recorder that was paused may both have changed.
func TestNoBoundIsLeft(t *testing.T) {
	paths := []string{"load.latency.p99Microseconds", "load.latency.meanMicroseconds", "load.latency.standardDeviationMicroseconds"}
	s := v1alpha1.ReplicationExperimentStatus{
		Load: &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{Requests: 100, Latency: &v1alpha1.LatencyStatus{
			P99Microseconds: 3, MeanMicroseconds: 3, StandardDeviationMicroseconds: ptr.To[int64](3),
		}}},
		Distance: &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{{Name: "db-0", Stages: []v1alpha1.LinkedStageStatus{{Name: "steady", DelayedPackets: 100, LatePackets: 2}}}}},
	}
	var b figure.Bounds
	for _, path := range paths[:2] {
		b.AtLeast(path, 3, "the recorder was paused")
	}
	Bound(&b, evidence.Run{}, &s)
	s.Bounds = b
	for _, path := range paths {
		if f := figure.Read(&s, path); f.AtLeast != nil || f.AtMost != nil {
			t.Errorf("%+v", f)
		}
	}
}
