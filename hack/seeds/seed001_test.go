package main

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/seeds"
	"replab.dev/internal/results"
	"replab.dev/internal/wire"
)

func resultsOf(stages ...wire.StageResult) results.Results {
	r := results.Results{Recorder: &wire.RecorderResults{Stages: stages}}
	r.Status.Verdict = v1alpha1.VerdictPassed
	r.Spec.Load.Stages = []v1alpha1.Stage{
		{Name: "warmup", Users: new(int64(8)), Discard: true}, {Name: "users-8", Users: new(int64(8))}, {Name: "users-16", Users: new(int64(16))}, {Name: "open", RequestsPerSecond: 5},
	}
	return r
}

func stage(name string, answered, succeeded, mean int64) wire.StageResult {
	return wire.StageResult{
		Name: name, DurationMicroseconds: 2_000_000, Answered: answered, Succeeded: succeeded,
		Latency: &wire.Latency{MeanMicroseconds: mean, P95Microseconds: 2 * mean},
	}
}

func TestOnlyStagesOfUsersThatCountAreFigures(t *testing.T) {
	r := figuresOf(resultsOf(stage("warmup", 9, 9, 9), stage("users-8", 210, 200, 12_700), wire.StageResult{Name: "users-16", DurationMicroseconds: 1}, stage("open", 9, 9, 9)))
	if len(r.figures) != 1 || r.figures[0] != (seeds.Figure{Connections: 8, PerSecond: 100, Failed: 5, P95: 0.0254, Mean: 0.0127}) || r.verdict != "Passed" {
		t.Errorf("figures are %+v", r)
	}
	if r := figuresOf(results.Results{}); len(r.figures) != 0 {
		t.Errorf("a run without a recorder has figures %+v", r)
	}
}

// TestEachBoundIsItsOwn: the document's figures lie at 0.98 to 1.09 of its own up to 64 connections, a run's are in its status.
func TestEachBoundIsItsOwn(t *testing.T) {
	far := resultsOf(stage("users-8", 152, 152, 100_000), stage("users-16", 200, 200, 100_000))
	far.Status.Load = &v1alpha1.LoadStatus{Stages: []v1alpha1.StageStatus{{Name: "users-8", Distance: &v1alpha1.StageDistance{OfBoundPermille: 897}}, {Name: "users-16"}}}
	got := text(seeds.Seed001, map[string]run{
		seeds.WithoutDistance: figuresOf(resultsOf(stage("users-8", 800, 800, 13_000))),
		"seed-001-1eu-1us":    figuresOf(far),
	})
	for _, want := range []string{
		"plain + trx flush                                       | seed-001-plain: not run\n",
		"1eu + 1usa                                              | seed-001-1eu-1us: 1 run, Passed\n",
		"    8    76.25     0.00   0.1226   0.1049     1.01    |    76.00     0.00   0.2000   0.1000     0.90\n",
		"   16   141.62     0.00   0.1401   0.1129     1.06    |   100.00     0.00   0.2000   0.1000\n", // no bound
		"  320   340.46     0.00   1.5074   0.9383             |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
}
