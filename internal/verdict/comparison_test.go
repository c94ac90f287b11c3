package verdict

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// baseline of sound evidence: the same load on another topology, twice as fast.
func baseline() *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{Spec: evidencetest.Sound().Spec}
	x.Spec.Topology.Type = v1alpha1.TopologySingle
	x.Status.Verdict = v1alpha1.VerdictFailed
	x.Status.Images = &v1alpha1.ImagesStatus{K6: "k6:1"}
	x.Status.Load = &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{
		DroppedIterations: ptr.To[int64](0), Requests: 6000, RequestsPerSecondMilli: ptr.To[int64](100_000), Latency: &v1alpha1.LatencyStatus{P99Microseconds: 6_000},
	}}
	return x
}

// scripts are those of the experiment, whose hash is always the same, and of its baseline.
func scripts(name, other, otherHash string) func(*evidence.Run) {
	return func(e *evidence.Run) {
		e.Spec.Load.Script, e.Baseline.Spec.Load.Script = &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: name}}, &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: other}}
		e.Baseline.Status.ScriptHash = otherHash
	}
}

func TestComparison(t *testing.T) {
	const anecdote = "one run each: an anecdote, without an interval"
	for _, c := range []struct {
		name            string
		change          func(*evidence.Run)
		throughput, p99 *int64
		note            string
	}{
		{"of two that differ in the topology", func(*evidence.Run) {}, ptr.To[int64](-50), ptr.To[int64](100), anecdote},
		{"with a baseline that is not there", func(e *evidence.Run) { e.Baseline = nil }, nil, nil, "run it first"},
		{"with a baseline without figures", func(e *evidence.Run) { e.Baseline.Status.Load = nil }, nil, nil, "run it first"},
		{"with a baseline that is Invalid", func(e *evidence.Run) { e.Baseline.Status.Verdict = v1alpha1.VerdictInvalid }, nil, nil, "verdict is Invalid: its figures cannot be relied on"},
		{"without figures here", func(e *evidence.Run) { e.Recorder.Incomplete = "restarted" }, nil, nil, "this experiment has no figures"},
		{"other stages", func(e *evidence.Run) {
			e.Baseline.Spec.Load.Stages = []v1alpha1.Stage{{Name: "steady", DurationSeconds: 60, Users: new(int64(11))}}
		}, nil, nil, "spec.load.stages must be the same in both"},
		{"the same stages in another order", func(e *evidence.Run) {
			other := v1alpha1.Stage{Name: "other", DurationSeconds: 1, Users: new(int64(1))}
			e.Spec.Load.Stages = append([]v1alpha1.Stage{other}, e.Spec.Load.Stages...)
			e.Baseline.Spec.Load.Stages = append(e.Baseline.Spec.Load.Stages, other)
		}, nil, nil, "spec.load.stages must"},
		{"another mix", func(e *evidence.Run) { e.Spec.Load.Mix.Register = 3 }, nil, nil, "spec.load.mix must"},
		{"other faults", func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 20, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill}}
		}, nil, nil, "spec.faults must be the same in both"},
		{"the same fault at another time", func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 20}}
			e.Baseline.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 21}}
		}, nil, nil, "spec.faults must"},
		{"another topology and routing are what is compared", func(e *evidence.Run) {
			e.Spec.Topology.Nodes, e.Spec.Topology.Parameters = 6, map[string]string{"a": "b"}
			e.Spec.Routing.Reads = "Replicas"
		}, ptr.To[int64](-50), ptr.To[int64](100), anecdote},
		{"at a distance", func(e *evidence.Run) {
			e.Baseline.Spec.Topology.Links, e.Baseline.Spec.App.Zone = []v1alpha1.Link{{From: "eu", To: "us", RoundTripMilliseconds: 87}}, "eu"
		}, ptr.To[int64](-50), ptr.To[int64](100), anecdote + "; the distances differ: none here, eu to us 87 ms, the app in eu in the baseline"},
		{"a script of one's own", func(e *evidence.Run) {
			e.Spec.Load.Script = &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "mine"}}
		}, nil, nil, "spec.load.script must"},
		{"the same script under another name", scripts("mine", "other", "hash"), ptr.To[int64](-50), ptr.To[int64](100), anecdote},
		{"another script under the same name", scripts("mine", "mine", "other"), nil, nil, "use the same spec.load.script in both"},
		{"scripts of which one is not known", scripts("mine", "mine", ""), nil, nil, "is unknown"},
		{
			"another k6 by default", func(e *evidence.Run) { e.Baseline.Status.Images.K6 = "k6:2" }, ptr.To[int64](-50), ptr.To[int64](100),
			anecdote + "; the image of k6 was k6:1 here and k6:2 in the baseline",
		},
		{
			"another version of k6", func(e *evidence.Run) { e.Baseline.Status.Versions = &v1alpha1.VersionsStatus{K6: "0.9"} }, ptr.To[int64](-50), ptr.To[int64](100),
			anecdote + "; k6 was of an unknown version here and 0.9 in the baseline",
		},
		{"more k6 pods", func(e *evidence.Run) { e.Spec.Load.Parallelism = 2 }, nil, nil, "spec.load.parallelism must"},
		{"another k6", func(e *evidence.Run) { e.Spec.Load.Image = "k6:mine" }, nil, nil, "spec.load.image must"},
		{"another dataset", func(e *evidence.Run) { e.Baseline.Spec.Dataset.Users = 7 }, nil, nil, "spec.dataset must"},
		{"another app", func(e *evidence.Run) { e.Baseline.Spec.App.Replicas = 7 }, nil, nil, "spec.app must"},
		{"other probes", func(e *evidence.Run) { e.Baseline.Spec.Probes.Lag.PayloadBytes = 7 }, nil, nil, "spec.probes must"},
		{"each field that differs is named", func(e *evidence.Run) {
			e.Spec.Load.Parallelism, e.Spec.App.Replicas = 2, 7
		}, nil, nil, "spec.load.parallelism and spec.app must"},
		{"a p99 here that is a lower bound", func(e *evidence.Run) { evidencetest.Failed(e, 31, v1alpha1.P99, v1alpha1.Max) }, ptr.To[int64](-50), nil, "the p99 here is not exact, since 31 of 3000"},
		{"a baseline's p99 that is a lower bound", func(e *evidence.Run) {
			l := e.Baseline.Status.Load
			(*figure.Bounds)(&e.Baseline.Status.Bounds).AtLeast("load.latency.p99Microseconds", l.Latency.P99Microseconds, "4 requests were not sent")
		}, ptr.To[int64](-50), nil, "the p99 of the baseline is not exact, since 4 requests were not sent"},
		{"a p99 here that a closed loop contradicts", func(e *evidence.Run) { e.Recorder.Stages[0].Answered = 2900 }, ptr.To[int64](-50), nil, "the p99 here cannot be relied on, since in stage steady"},
		{"a baseline's p99 that a closed loop contradicts", func(e *evidence.Run) {
			(*figure.Bounds)(&e.Baseline.Status.Bounds).Unknown("load.latency.p99Microseconds", "in stage steady the loop is broken")
		}, ptr.To[int64](-50), nil, "the p99 of the baseline cannot be relied on, since in stage steady"},
		{"a recorder here that was paused", func(e *evidence.Run) { e.Recorder.Load.PausedMicroseconds = 12_000_000 }, nil, ptr.To[int64](100), anecdote + "; the throughput here is not compared, since the recorder was paused for 12000 of 60000 ms"},
		{"a baseline's recorder that was paused", func(e *evidence.Run) {
			l := e.Baseline.Status.Load
			l.DurationMilliseconds, l.PausedMilliseconds = ptr.To[int64](1000), ptr.To[int64](300)
			(*figure.Bounds)(&e.Baseline.Status.Bounds).Between("load.requestsPerSecondMilli", 100_000, 142_857, "it was paused")
		}, nil, ptr.To[int64](100), "; the throughput of the baseline is not compared, since it was paused"},
		{"a recorder that was paused for a fiftieth", func(e *evidence.Run) { e.Recorder.Load.PausedMicroseconds = 1_200_000 }, ptr.To[int64](-51), ptr.To[int64](100), anecdote},
		{
			"an app here that was away", func(e *evidence.Run) {
				e.Provenance.Containers = []provenance.Container{interrupted(*e, kube.ComponentSocial, 32_000, 2_000)}
			}, nil, nil,
			"; the throughput here is not compared, since the app or a proxy was away for a part of the load; the p99 here is an upper bound, since the app",
		},
		{"an app of the baseline that was away", func(e *evidence.Run) {
			(*figure.Bounds)(&e.Baseline.Status.Bounds).AtLeast("load.requestsPerSecondMilli", 100_000, "the app was away")
		}, nil, ptr.To[int64](100), "; the throughput of the baseline is not compared, since the app was away"},
		{"an Invalid run", func(e *evidence.Run) { e.Audit.Writes.Balanced = false }, nil, nil, "this run's verdict is Invalid"},
		{"an Inconclusive run", func(e *evidence.Run) { e.Faults[0].Confirmed = "False" }, nil, nil, "this run's verdict is Inconclusive"},
		{"another durability of another topology", func(e *evidence.Run) { e.Spec.Topology.Durability = v1alpha1.DurabilityRelaxed }, nil, nil, "durability is Relaxed here and  in the baseline, and the topology differs too"},
		{"durability alone", func(e *evidence.Run) {
			e.Spec.Topology.Durability, e.Baseline.Spec.Topology.Type = v1alpha1.DurabilityRelaxed, e.Spec.Topology.Type
		}, ptr.To[int64](-50), ptr.To[int64](100), "durability is Relaxed here"},
		{"another storage of another topology", func(e *evidence.Run) { e.Spec.Topology.Storage.Medium = "Memory" }, nil, nil, "spec.topology.storage differs, and the topology differs too"},
		{"other machines", func(e *evidence.Run) { e.BaselineProvenance.Machines[0].CPUs = 64 }, nil, nil, "the machines differ: 2 processors"},
		{"machines that are not known", func(e *evidence.Run) {
			e.BaselineProvenance.Machines, e.BaselineProvenance.MachinesUnknown = nil, "forbidden"
		}, nil, nil, "the machines that the baseline ran on are unknown: forbidden"},
		{"a baseline in which nothing succeeded", func(e *evidence.Run) { e.Baseline.Status.Load.RequestsPerSecondMilli = ptr.To[int64](0) }, nil, nil, "its throughput is 0"},
		{"no latency here", func(e *evidence.Run) { e.Recorder.Load.Latency = nil }, ptr.To[int64](-50), nil, anecdote},
		{"no request here", func(e *evidence.Run) { e.Recorder.Load = wire.StageResult{} }, nil, nil, "this experiment has no figures"},
		{"no request of the baseline", func(e *evidence.Run) { e.Baseline.Status.Load = &v1alpha1.LoadStatus{} }, nil, nil, "the baseline has no figures"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedBeside(c.change)
			got := s.Comparison
			if text(got.RequestsPerSecondPercent) != text(c.throughput) || text(got.P99Percent) != text(c.p99) || !strings.Contains(got.Note, c.note) {
				t.Errorf("throughput %v%%, p99 %v%%, note %q; want %v%%, %v%%, %q",
					text(got.RequestsPerSecondPercent), text(got.P99Percent), got.Note, text(c.throughput), text(c.p99), c.note)
			}
			reason := strings.Contains(strings.Join(allSaid(s), " "), "compared with single: "+got.Note)
			if reason != (c.throughput == nil) {
				t.Errorf("reasons are %q", s.Reasons)
			}
		})
	}
}
