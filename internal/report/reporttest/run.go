// Package reporttest makes results documents for tests: the figures of a run that never was, judged by the code that judges real ones.
package reporttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/provenance"
	"replab.dev/internal/results"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// began is when the loads of these runs did.
var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) metav1.MicroTime {
	return metav1.NewMicroTime(began.Add(time.Duration(seconds * float64(time.Second))))
}

// Shape of a run.
type Shape struct {
	Experiment string // a file of the folder experiments
	Seconds    int    // of its last stage
	FaultAt    float64
	Lost       int64
}

// SemiSync is the results document of a semi-synchronous run whose primary was killed.
func SemiSync(t testing.TB) results.Results {
	return Run(t, Shape{Experiment: "semisync", Seconds: 45, FaultAt: 20})
}

// Hour is that of a run of an hour, with ten nodes, whose figures do not repeat.
func Hour(t testing.TB) results.Results {
	return Run(t, Shape{Experiment: "semisync", Seconds: 3595, FaultAt: 1800})
}

// Run returns the results document of a run of a shape.
func Run(t testing.TB, shape Shape) results.Results {
	t.Helper()
	x := experiment.Load(t, shape.Experiment)
	if shape.Seconds > 1000 {
		x.Spec.Topology.Nodes = 10
	}
	last := &x.Spec.Load.Stages[len(x.Spec.Load.Stages)-1]
	last.DurationSeconds = int64(shape.Seconds)
	x.CreationTimestamp = metav1.NewTime(began.Add(-40 * time.Second))
	e := collected(x, shape)
	x.Status.LoadStartTime, x.Status.StartTime = ptr.To(at(0)), ptr.To(metav1.NewTime(began.Add(-39*time.Second)))
	x.Status.CompletionTime = ptr.To(metav1.NewTime(began.Add(time.Duration(shape.Seconds+30) * time.Second)))
	x.Status.Images = &v1alpha1.ImagesStatus{Replab: "replab:test", Server: "mysql:8.4.6", Proxy: "haproxy:3.0", K6: "k6:1.4.0"}
	verdict.Judge(e, &x.Status)
	m, err := results.Document(x, e)
	if err != nil {
		t.Fatal(err)
	}
	r, err := results.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

func collected(x *v1alpha1.ReplicationExperiment, shape Shape) evidence.Run {
	nodes := names(x)
	w := recorder(x, shape, nodes)
	sets := wire.WriteSets{
		LedgerCounts: w.Writes, Present: w.Writes.Acknowledged - shape.Lost + 2, Lost: shape.Lost, Recovered: 2, Vanished: w.Writes.Indeterminate - 2, Balanced: true,
	}
	if shape.Lost > 0 {
		for i := range min(shape.Lost, wire.MaxLostWrites) {
			acknowledged := at(shape.FaultAt - 0.4 + 0.3*float64(i)/wire.MaxLostWrites)
			sets.LostWrites = append(sets.LostWrites, wire.LostWrite{ID: uint64(900 + i), AcknowledgedAt: &acknowledged, On: nodes[:1]})
		}
		sets.LostSpans = []wire.LostSpan{{From: at(shape.FaultAt - 0.4), To: at(shape.FaultAt - 0.1), Writes: shape.Lost}}
	}
	audit := &wire.AuditResult{Writes: &sets, FinishedAt: at(float64(shape.Seconds) + 20)}
	for i, name := range nodes {
		n := wire.AuditedNode{Name: name, Role: wire.RoleReader, Rows: ptr.To(10_000 + sets.Present), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0)}
		switch i {
		case 0:
			n.Role, n.Rows, n.Missing = wire.RoleIsolated, ptr.To[int64](10_000+sets.Present-700), ptr.To[int64](701)
			n.Extra, n.ExtraProbeWrites, n.GhostTransactions, n.HoldsOwn = ptr.To[int64](1), ptr.To[int64](2), ptr.To[int64](3), ptr.To(true)
		case 1:
			n.Role, n.Missing = wire.RoleWriter, nil
		}
		audit.Nodes = append(audit.Nodes, n)
	}
	return evidence.Run{
		Experiment: x.Name, Nodes: nodes, Spec: x.Spec, Recorder: w, Audit: audit, K6: summary(w),
		Faults: []v1alpha1.FaultStatus{{
			Name: "crash", Fault: "crash", Pod: nodes[0], PodUID: "uid", Role: v1alpha1.NodePrimary, PlannedTime: at(shape.FaultAt), InjectedTime: ptr.To(at(shape.FaultAt + 0.012)),
			State: v1alpha1.FaultReleased, Confirmed: metav1.ConditionTrue, Evidence: "the server's process is gone", ReleasedTime: ptr.To(at(shape.FaultAt + 10)),
		}},
		State: topology.State{
			Known: true, Writers: nodes[1:2], Nodes: states(nodes),
			Failovers: []topology.Failover{{Clock: "director", OldWriter: nodes[0], NewWriter: nodes[1], DetectedAt: at(shape.FaultAt + 0.9), PromotedAt: ptr.To(at(shape.FaultAt + 1.4))}},
			Absences:  []topology.Absence{{Node: nodes[0], Clock: "director", Absence: wire.Absence{LeftAt: at(shape.FaultAt + 0.9)}}},
		},
		Rest:  &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: nodes[1:2]},
		Proxy: map[string]string{"inter": "250ms", "fall": "2", "timeout server": "11s"},
		Provenance: provenance.Provenance{
			Operator:   "test",
			Containers: []provenance.Container{{Pod: nodes[0], Component: "database", Name: "server", Image: "mysql:8.4.6", ImageID: "sha256:0123", Machine: "machine-1"}},
			Machines:   []provenance.Machine{{Name: "machine-1", Kernel: "6.1", OperatingSystem: "Debian 12", Architecture: "amd64", ContainerRuntime: "containerd://2.1", CPUs: 2, MemoryBytes: 8 << 30}},
		},
	}
}

func names(x *v1alpha1.ReplicationExperiment) (all []string) {
	for i := range x.Spec.Topology.Nodes {
		all = append(all, fmt.Sprintf("%s-db-%d", x.Name, i))
	}
	return all
}

func states(nodes []string) (all []topology.NodeState) {
	for i, name := range nodes {
		all = append(all, topology.NodeState{Name: name, Role: roleOf(i), CaughtUp: true, Rejoin: wire.RejoinDone})
	}
	return all
}

func summary(w *wire.RecorderResults) *wire.K6Summary {
	k := &wire.K6Summary{Version: 1, Registered: w.Writes.Acknowledged, RegisteredKnown: true}
	for _, s := range w.Stages {
		k.Requests, k.FailedRequests = k.Requests+s.Requests, k.FailedRequests+s.Failures
		k.Stages = append(k.Stages, wire.K6StageSummary{Name: s.Name, Requests: s.Requests, FailedRequests: s.Failures, Iterations: s.Requests, IterationMeanMicroseconds: mean(s)})
	}
	return k
}

func mean(s wire.StageResult) int64 {
	if s.Name == "warmup" { // a closed loop of 4 users
		return 4 * s.DurationMicroseconds / s.Answered
	}
	return s.Latency.MeanMicroseconds + 500
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func sum[T any](all []T, of func(T) int64) (total int64) {
	for _, v := range all {
		total += of(v)
	}
	return total
}

func latency(p50 int64, lower ...v1alpha1.Percentile) *wire.Latency {
	f := float64(p50)
	return &wire.Latency{
		MeanMicroseconds: int64(f * 1.2), P50Microseconds: p50, P95Microseconds: int64(f * 2.4), P99Microseconds: int64(f * 4.9), MaxMicroseconds: int64(math.Round(f * 31)),
		LowerBounds: slices.Clone(lower),
	}
}

func roleOf(i int) wire.Role {
	if i == 1 {
		return wire.RoleWriter
	}
	return wire.RoleReader
}
