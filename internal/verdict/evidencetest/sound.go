// Package evidencetest has evidence of runs for tests of the verdict.
package evidencetest

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/provenance"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// Hole is a time without an acknowledgement, in milliseconds after the start, after which a node acknowledges: never when to is 0.
type Hole struct {
	From, To int64
	Node     string
	Errors   int
	Paused   int64
}

// Available is what a recorder tells of a load of a minute in which a write is acknowledged every 20 ms, but in the holes.
func Available(holes ...Hole) *wire.AvailabilityResult {
	now, node := At(0).Time, "db-0"
	l := outage.NewLog(func() time.Time { return now }, nil)
	l.Begin(now)
	stop := int64(60_400)
	for ms := int64(5); ms <= stop; ms += 20 {
		i := slices.IndexFunc(holes, func(h Hole) bool { return h.From >= ms-20 && h.From < ms })
		if now = At(ms).Time; i < 0 {
			l.Acknowledged(node)
			continue
		}
		h := holes[i]
		now = At(h.From).Time
		l.Acknowledged(node)
		for range h.Errors {
			now = At(h.From + 10).Time
			l.Failed()
		}
		if h.To == 0 {
			break
		}
		node, now, ms = h.Node, At(h.To).Time, h.To
		l.Acknowledged(node)
	}
	now = At(stop).Time
	l.Stop()
	a := &wire.AvailabilityResult{Gaps: l.Gaps(), Silences: l.Silences()}
	for _, h := range holes {
		for i, s := range a.Silences.Longest {
			if h.Paused > 0 && s.EndMicroseconds == h.To*1000 {
				a.Silences.Longest[i].PausedMicroseconds = h.Paused * 1000
			}
		}
		if h.To == 0 {
			a.Silences.Last.PausedMicroseconds = h.Paused * 1000
		}
	}
	return a
}

// Hit is a fault at a time by its node's clock.
func Hit(name, pod string, ms int64) v1alpha1.FaultStatus {
	return v1alpha1.FaultStatus{Name: name, Fault: name, Pod: pod, InjectedTime: AtPtr(ms), PlannedTime: At(ms / 1000 * 1000), Confirmed: metav1.ConditionTrue}
}

// Clock of a node, with its bounds in milliseconds.
func Clock(name string, leastAhead, mostAhead int64) wire.Clock {
	return wire.Clock{Name: name, LeastAheadMicroseconds: leastAhead * 1000, MostAheadMicroseconds: mostAhead * 1000}
}

// SettingsRead are the settings of a server as they should be, but for changes.
func SettingsRead(node string, change ...func(*wire.NodeSettings)) wire.NodeSettings {
	n := wire.NodeSettings{Node: node, Version: "9.7.4 (Debian)", Identity: "uuid-of-" + node, Settings: []wire.SettingRead{
		{Setting: wire.Setting{Name: "sync_binlog", Value: "1"}, Actual: ptr.To("1")},
		{Setting: wire.Setting{Name: "start_option", Value: "x", MayLack: true}},
	}}
	for _, c := range change {
		c(&n)
	}
	return n
}

// T0 is when the load starts.
var T0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// At is so many milliseconds after the load's start.
func At(ms int64) metav1.MicroTime {
	return metav1.NewMicroTime(T0.Add(time.Duration(ms) * time.Millisecond))
}

// AtPtr is At as an optional time.
func AtPtr(ms int64) *metav1.MicroTime { return ptr.To(At(ms)) }

// Sound is the evidence of a run whose commits wait for another node, and whose primary was killed: nothing lost, one ghost, an outage of 2 s.
func Sound() evidence.Run {
	w := wire.WriteSets{
		LedgerCounts: wire.LedgerCounts{Sent: 1000, Acknowledged: 990, Rejected: 4, Indeterminate: 6},
		Present:      993, Lost: 0, Recovered: 3, Vanished: 3, Balanced: true,
	}
	return evidence.Run{
		Experiment: "x", Nodes: []string{"db-0", "db-1"}, Provenance: onMachines(), BaselineProvenance: onMachines(),
		Spec: v1alpha1.ReplicationExperimentSpec{
			Goals: []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To[int64](0)}},
			Load:  v1alpha1.LoadSpec{Stages: []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: new(int64(10))}}},
		},
		Recorder: &wire.RecorderResults{
			Load: wire.StageResult{
				Requests: 3000, Failures: 10, DurationMicroseconds: 60_000_000, Answered: 2998, Succeeded: 2990, Latency: &wire.Latency{P99Microseconds: 12_001},
			},
			Stages: []wire.StageResult{{Name: "steady", Requests: 3000, Failures: 10, DurationMicroseconds: 60_000_000, Answered: 2998, Succeeded: 2990}},
			Writes: w.LedgerCounts, Acknowledgements: AcknowledgedAt(29_950), CheckedReads: 1000,
			RecorderState: wire.RecorderState{LoadStartedAt: AtPtr(0)},
			LoadEndedAt:   AtPtr(60_000), Writers: []string{"db-0", "db-1"},
			Settings:     []wire.NodeSettings{SettingsRead("db-0"), SettingsRead("db-1")},
			Availability: Available(Hole{From: 100, To: 9_000, Node: "db-0"}, Hole{From: 30_000, To: 32_000, Node: "db-1", Errors: 4}, Hole{From: 40_000, To: 41_000, Node: "db-1", Errors: 1}),
			Clocks:       []wire.Clock{Clock("db-0", 0, 0), Clock("director", 0, 0)},
			Commits: &wire.CommitsResult{Nodes: []wire.NodeCommits{
				{Name: "db-0", Samples: 60, LastWriteAt: AtPtr(30_000), UncountedMicroseconds: 120_001},
				{Name: "db-1", Samples: 60, LastWriteAt: AtPtr(60_000)},
			}},
		},
		Audit: &wire.AuditResult{Writes: &w, Nodes: []wire.AuditedNode{
			{Name: "db-0", Role: wire.RoleIsolated, Rows: ptr.To[int64](994), Extra: ptr.To[int64](1), ExtraProbeWrites: ptr.To[int64](2), GhostTransactions: ptr.To[int64](3), HoldsOwn: ptr.To(true)},
			{Name: "db-1", Role: wire.RoleWriter, Rows: ptr.To[int64](993), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0)},
		}},
		K6:     &wire.K6Summary{Requests: 3000, FailedRequests: 10, Registered: 988, RegisteredKnown: true, Stages: []wire.K6StageSummary{{Name: "steady", Requests: 3000, FailedRequests: 10, Iterations: 3000, IterationMeanMicroseconds: 199_800}}},
		Faults: []v1alpha1.FaultStatus{{Name: "crash", Fault: "crash", Pod: "db-0", InjectedTime: AtPtr(30_005), Confirmed: metav1.ConditionTrue}},
		State: topology.State{
			Known: true, Writers: []string{"db-1"},
			Nodes:     []topology.NodeState{{Name: "db-0", Role: wire.RoleReader, Rejoin: wire.RejoinDone}, {Name: "db-1", Role: wire.RoleWriter}},
			Failovers: []topology.Failover{{Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: At(31_000), PromotedAt: AtPtr(31_500)}},
		},
	}
}

// onMachines is what sound runs ran on.
func onMachines() provenance.Provenance {
	return provenance.Provenance{Machines: []provenance.Machine{{Name: "m", Architecture: "amd64", CPUs: 2, MemoryBytes: 8 << 30}}}
}

// AcknowledgedAt are acknowledgements, in milliseconds.
func AcknowledgedAt(times ...int64) *wire.Acknowledgements {
	a := wire.NewAcknowledgements(T0)
	for _, ms := range times {
		a.Mark(T0.Add(time.Duration(ms) * time.Millisecond))
	}
	return a
}

// Failed has requests fail, and percentiles be lower bounds for it.
func Failed(e *evidence.Run, failures int64, lower ...v1alpha1.Percentile) {
	e.Recorder.Load.Failures, e.Recorder.Load.Latency.LowerBounds = failures, lower
}

// LagOf a node that did not show some rows of the probe, of which some were lost.
func LagOf(node string, unseen, lost int64) *wire.LagResult {
	d := wire.LagDistribution{Samples: 10, Unseen: unseen, Lost: lost, MaxMicroseconds: ptr.To[int64](50)}
	if unseen > lost {
		d.OldestUnseenMicroseconds, d.LowerBounds = ptr.To[int64](7_000_000), []v1alpha1.Percentile{v1alpha1.Max}
	}
	return &wire.LagResult{LagDistribution: d, Nodes: []wire.NodeLag{{Name: node, LagDistribution: d}}}
}
