package distance

import (
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// TestTheLatencyWithoutDistance is of few users, and of the same run if that has a stage for it.
func TestTheLatencyWithoutDistance(t *testing.T) {
	stage := func(name string, mean int64) v1alpha1.StageStatus {
		return v1alpha1.StageStatus{Name: name, StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{MeanMicroseconds: mean}}}
	}
	e := evidencetest.WithoutDistanceFirst()
	e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "many", DurationSeconds: 60, Users: new(int64(100))})
	s := v1alpha1.ReplicationExperimentStatus{Load: &v1alpha1.LoadStatus{
		StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To[int64](100000)}, Stages: []v1alpha1.StageStatus{stage("base", 5_000), stage("steady", 23_000)},
	}}
	b := &v1alpha1.ReplicationExperiment{Spec: *e.Spec.DeepCopy()}
	b.Spec.Topology.Zones, b.Spec.Topology.Links = nil, nil
	for i := range b.Spec.Load.Stages {
		b.Spec.Load.Stages[i].Distance = ""
	}
	b.Status.Verdict = v1alpha1.VerdictPassed
	b.Status.Load = &v1alpha1.LoadStatus{
		StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To[int64](100000)},
		Stages:       []v1alpha1.StageStatus{stage("base", 4_000), stage("leave", 4_500), stage("steady", 6_000), stage("many", 60_000)},
	}
	e.Baseline = b
	r := e.Recorder.Stages[2]
	if base, from := latencyWithout(e, &s, r); base != 5_000 || from != v1alpha1.BaseFromStage {
		t.Errorf("%d µs from %s, want those of the stage", base, from)
	}
	e.Spec.Load.Stages[0].Users, e.Spec.Load.Stages[0].RequestsPerSecond = nil, 5000
	if _, from := latencyWithout(e, &s, r); from == v1alpha1.BaseFromStage {
		t.Error("it is from an open loop, whose requests may have queued")
	}
	e.Spec.Load.Stages[0].Users, e.Spec.Load.Stages[0].RequestsPerSecond = new(int64(1)), 0
	e.Distance.Nodes = append(e.Distance.Nodes, v1alpha1.LinkedNodeStatus{Name: "db-2", LinkingTime: evidencetest.AtPtr(11_500), LinkedTime: evidencetest.AtPtr(12_000)})
	e.Recorder.Clocks = append(e.Recorder.Clocks, evidencetest.Clock("db-2", 1, 2))
	for ended, want := range map[int64]v1alpha1.DistanceBase{11_497: v1alpha1.BaseFromStage, 11_498: v1alpha1.BaseFromBaseline} { // the first links may be set from 11.498 s on
		e.Recorder.Stages[0].EndedAt = evidencetest.AtPtr(ended)
		if _, from := latencyWithout(e, &s, r); from != want {
			t.Errorf("with an answer at %d ms it is from %s, want %s", ended, from, want)
		}
		if told := slices.ContainsFunc(distanceRemarks(e, &s), func(f finding.Finding) bool { return f.Code == finding.BaseStageOverlaps }); told != (want != v1alpha1.BaseFromStage) {
			t.Errorf("with an answer at %d ms the notes tell: %v", ended, told)
		}
	}
	e.Recorder.Stages[0].EndedAt = nil
	if _, from := latencyWithout(e, &s, r); from == v1alpha1.BaseFromStage {
		t.Error("nobody knows when its last request had its answer")
	}
	e.Recorder.Stages[0].EndedAt = evidencetest.AtPtr(10_005)
	s.Load.Stages[0].Latency = nil
	if base, from := latencyWithout(e, &s, r); base != 6_000 || from != v1alpha1.BaseFromBaseline {
		t.Errorf("%d µs from %s, want those of the baseline's fewest users that count", base, from)
	}
	for after, want := range map[int64]v1alpha1.DistanceBase{0: v1alpha1.BaseFromReads, 100: v1alpha1.BaseFromBaseline} { // steady ends at 80 s
		faults := []v1alpha1.Fault{{Name: "crash", AtSeconds: 79 + after, Action: v1alpha1.ActionKill}}
		e.Spec.Faults, b.Spec.Faults = faults, faults
		if _, from := latencyWithout(e, &s, r); from != want {
			t.Errorf("with a fault at %d s it is from %s, want %s", 79+after, from, want)
		}
	}
	e.Spec.Faults, b.Spec.Faults = nil, nil
	s.Load.Stages[0] = stage("base", 5_000)
	e.State.Absences = []topology.Absence{{Node: "db-1", Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(1_000), BackAt: evidencetest.AtPtr(2_000)}}}
	e.Recorder.Stages[0].DurationMicroseconds = 10_000_000
	if _, from := latencyWithout(e, &s, r); from != v1alpha1.BaseFromBaseline {
		t.Errorf("it is from %s, in which a node was out of its place", from)
	}
	e.State.Absences, s.Load.Stages[0].Latency = nil, nil
	e.Baseline = nil
	if base, from := latencyWithout(e, &s, r); base != 2_000 || from != v1alpha1.BaseFromReads {
		t.Errorf("%d µs from %s, want those of the reads", base, from)
	}
	if d := stageDistance(e, &s, e.Spec.Load.Stages[2], r); d == nil {
		t.Error("a stage at a distance is not held against it")
	}
	for _, asked := range e.Spec.Load.Stages[:2] {
		if d := stageDistance(e, &s, asked, r); d != nil {
			t.Errorf("stage %s, not at a distance from its begin to its end, is held against it: %+v", asked.Name, d)
		}
	}
	s.Load.Stages = append(s.Load.Stages, stage("leave", 9_000))
	s.Load.Stages[1].Distance = &v1alpha1.StageDistance{}
	if unbounded(e, &s) {
		t.Error("a stage without distance, or in which links were set, lacks a bound")
	}
}

// TestOfSeveralStagesWithoutDistanceTheLastOneCounts: those before it are for warming up.
func TestOfSeveralStagesWithoutDistanceTheLastOneCounts(t *testing.T) {
	e := evidencetest.WithoutDistanceFirst()
	warm := e.Spec.Load.Stages[0]
	warm.Name = "warm"
	e.Spec.Load.Stages = append([]v1alpha1.Stage{warm}, e.Spec.Load.Stages...)
	of := func(name string, mean int64) v1alpha1.StageStatus {
		return v1alpha1.StageStatus{Name: name, StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{MeanMicroseconds: mean}}}
	}
	s := v1alpha1.ReplicationExperimentStatus{Load: &v1alpha1.LoadStatus{Stages: []v1alpha1.StageStatus{of("warm", 50_000), of("base", 5_000)}}}
	if base, from := latencyWithout(e, &s, e.Recorder.Stages[2]); base != 5_000 || from != v1alpha1.BaseFromStage {
		t.Errorf("%d µs from %s, want those of the last stage without distance", base, from)
	}
}
