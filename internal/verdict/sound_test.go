package verdict

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(ms int64) metav1.MicroTime {
	return metav1.NewMicroTime(t0.Add(time.Duration(ms) * time.Millisecond))
}

func atPtr(ms int64) *metav1.MicroTime { return ptr.To(at(ms)) }

// sound is the evidence of a semi-synchronous run whose primary was killed: nothing lost, one ghost, an outage of 2 s.
func sound() Evidence {
	w := wire.WriteSets{
		LedgerCounts: wire.LedgerCounts{Sent: 1000, Acknowledged: 990, Rejected: 4, Indeterminate: 6},
		Present:      993, Lost: 0, Recovered: 3, Vanished: 3, Balanced: true,
	}
	return Evidence{
		Experiment: "x", Nodes: []string{"db-0", "db-1"}, Provenance: onMachines(), BaselineProvenance: onMachines(),
		Spec: v1alpha1.ReplicationExperimentSpec{
			Goals: []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To[int64](0)}},
			Load:  v1alpha1.LoadSpec{Stages: []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: 10}}},
		},
		Recorder: &wire.RecorderResults{
			Load: wire.StageResult{
				Requests: 3000, Failures: 10, DurationMicroseconds: 60_000_000, Answered: 2998, Succeeded: 2990, Latency: &wire.Latency{P99Microseconds: 12_001},
			},
			Stages: []wire.StageResult{{Name: "steady", Requests: 3000, Failures: 10, DurationMicroseconds: 60_000_000, Answered: 2998, Succeeded: 2990}},
			Writes: w.LedgerCounts, Acknowledgements: acknowledgedAt(29_950), CheckedReads: 1000,
			RecorderState: wire.RecorderState{LoadStartedAt: atPtr(0)},
			LoadEndedAt:   atPtr(60_000), Writers: []string{"db-0", "db-1"},
			Settings:     []wire.NodeSettings{settingsRead("db-0"), settingsRead("db-1")},
			Availability: available(hole{from: 100, to: 9_000, node: "db-0"}, hole{from: 30_000, to: 32_000, node: "db-1", errors: 4}, hole{from: 40_000, to: 41_000, node: "db-1", errors: 1}),
			Clocks:       []wire.Clock{clock("db-0", 0, 0), clock("director", 0, 0)},
			Commits: &wire.CommitsResult{Nodes: []wire.NodeCommits{
				{Name: "db-0", Samples: 60, LastWriteAt: atPtr(30_000), UncountedMicroseconds: 120_001},
				{Name: "db-1", Samples: 60, LastWriteAt: atPtr(60_000)},
			}},
		},
		Audit: &wire.AuditResult{Writes: &w, Nodes: []wire.AuditedNode{
			{Name: "db-0", Role: wire.RoleIsolated, Rows: ptr.To[int64](994), Extra: ptr.To[int64](1), ExtraProbeWrites: ptr.To[int64](2), GhostTransactions: ptr.To[int64](3), HoldsOwn: ptr.To(true)},
			{Name: "db-1", Role: wire.RoleWriter, Rows: ptr.To[int64](993), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0)},
		}},
		K6:     &wire.K6Summary{Requests: 3000, FailedRequests: 10, Registered: 988, RegisteredKnown: true, Stages: []wire.K6StageSummary{{Name: "steady", Requests: 3000, FailedRequests: 10, Iterations: 3000, IterationMeanMicroseconds: 199_800}}},
		Faults: []v1alpha1.FaultStatus{{Name: "crash", Fault: "crash", Pod: "db-0", InjectedTime: atPtr(30_005), Confirmed: metav1.ConditionTrue}},
		State: topology.State{
			Known: true, Writers: []string{"db-1"},
			Nodes:     []topology.NodeState{{Name: "db-0", Role: wire.RoleReader, Rejoin: wire.RejoinDone}, {Name: "db-1", Role: wire.RoleWriter}},
			Failovers: []topology.Failover{{Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: at(31_000), PromotedAt: atPtr(31_500)}},
		},
	}
}

// onMachines is what sound runs ran on.
func onMachines() provenance.Provenance {
	return provenance.Provenance{Machines: []provenance.Machine{{Name: "m", Architecture: "amd64", CPUs: 2, MemoryBytes: 8 << 30}}}
}

// acknowledgedAt are acknowledgements, in milliseconds.
func acknowledgedAt(times ...int64) *wire.Acknowledgements {
	a := wire.NewAcknowledgements(t0)
	for _, ms := range times {
		a.Mark(t0.Add(time.Duration(ms) * time.Millisecond))
	}
	return a
}

// failed has requests fail, and percentiles be lower bounds for it.
func failed(e *Evidence, failures int64, lower ...v1alpha1.Percentile) {
	e.Recorder.Load.Failures, e.Recorder.Load.Latency.LowerBounds = failures, lower
}

func lagOf(node string, unseen, lost int64) *wire.LagResult {
	d := wire.LagDistribution{Samples: 10, Unseen: unseen, Lost: lost, MaxMicroseconds: ptr.To[int64](50)}
	if unseen > lost {
		d.OldestUnseenMicroseconds, d.LowerBounds = ptr.To[int64](7_000_000), []v1alpha1.Percentile{v1alpha1.Max}
	}
	return &wire.LagResult{LagDistribution: d, Nodes: []wire.NodeLag{{Name: node, LagDistribution: d}}}
}
