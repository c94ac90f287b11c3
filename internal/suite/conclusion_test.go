package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/suite"
)

const pair = `
  template: {spec: {topology: {type: Async, nodes: 2}, load: {stages: [{name: steady, durationSeconds: 20, users: 5}]}}}
  variants: [{name: a}, {name: b}]
  trials: 6
  order: Sequential
  retries: 0
  comparisons: [{of: b, to: a, metrics: [requestsPerSecond]}]
`

// played is a suite whose first trials have ended.
type played struct {
	*v1alpha1.ReplicationSuite
	experiments map[string]*v1alpha1.ReplicationExperiment
}

// play ends n trials, each of a minute.
func play(t *testing.T, spec string, n int, end func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment)) played {
	t.Helper()
	p := played{parse(t, spec), map[string]*v1alpha1.ReplicationExperiment{}}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range n {
		run := suite.Next(p.ReplicationSuite)
		x := &v1alpha1.ReplicationExperiment{}
		x.Spec.Load.Stages = []v1alpha1.Stage{{Name: "steady"}}
		run.Verdict = v1alpha1.VerdictPassed
		run.StartTime, run.CompletionTime = ptr.To(metav1.NewTime(now)), ptr.To(metav1.NewTime(now.Add(time.Minute)))
		x.Status.StartTime = run.StartTime
		end(run, x)
		hash, err := suite.HashTrial(&x.Spec)
		if err != nil {
			t.Fatal(err)
		}
		run.SpecHash = hash
		now = now.Add(2 * time.Minute)
		p.Status.Runs = append(p.Status.Runs, *run)
		p.experiments[run.Name] = x
	}
	suite.Summarize(p.ReplicationSuite, p.experiments)
	return p
}

// rate sets the requests a second, in thousandths.
func rate(x *v1alpha1.ReplicationExperiment, milli int64) {
	x.Status.Load = &v1alpha1.LoadStatus{}
	x.Status.Load.RequestsPerSecondMilli = &milli
}

func figureOf(t *testing.T, v v1alpha1.VariantStatus, name string) v1alpha1.TrialsFigure {
	t.Helper()
	i := slices.IndexFunc(v.Figures, func(f v1alpha1.TrialsFigure) bool { return f.Name == v1alpha1.SuiteMetric(name) && f.Stage == "" })
	if i < 0 {
		t.Fatalf("variant %s has no %s: %+v", v.Name, name, v.Figures)
	}
	return v.Figures[i]
}

func TestFiguresKeepTheirBounds(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_500+int64(run.Round)*1000)
		x.Status.OutageMilliseconds = ptr.To(int64(run.Round) * 100)
		if run.Round >= 4 && run.Variant == "b" {
			x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "outageMilliseconds", AtLeast: x.Status.OutageMilliseconds, Because: "its end was not seen"}}
		}
	})
	a, b := p.Status.Variants[0], p.Status.Variants[1]
	if diff := cmp.Diff(v1alpha1.TrialsFigure{Name: "requestsPerSecond", Median: "104", Low: "101.5", High: "106.5", N: 6}, figureOf(t, a, "requestsPerSecond")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.TrialsFigure{Name: "outageMilliseconds", Median: "350", Low: "100", High: "600", N: 6}, figureOf(t, a, "outageMilliseconds")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(v1alpha1.TrialsFigure{Name: "outageMilliseconds", MedianAtLeast: "350", Low: "100", N: 6}, figureOf(t, b, "outageMilliseconds")); diff != "" {
		t.Error(diff)
	}
}

// TestCountsOfAHeldUpLoadAreMinimums: without the pause there would have been more requests.
func TestCountsOfAHeldUpLoadAreMinimums(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_000)
		l := x.Status.Load
		l.Requests, l.DurationMilliseconds, l.PausedMilliseconds = 2000, ptr.To[int64](20_000), ptr.To[int64](100)
		if run.Variant == "b" {
			l.PausedMilliseconds = ptr.To[int64](300)
		}
	})
	for i, want := range []v1alpha1.TrialsFigure{{Name: "requests", Median: "2000", Low: "2000", High: "2000", N: 6}, {Name: "requests", MedianAtLeast: "2000", Low: "2000", N: 6}} {
		if diff := cmp.Diff(want, figureOf(t, p.Status.Variants[i], "requests")); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCountsOfAStageAreJudgedByTheStage: one was held up, one is empty, and the whole load is neither.
func TestCountsOfAStageAreJudgedByTheStage(t *testing.T) {
	p := play(t, pair, 12, func(_ *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_000)
		stage := func(name string, requests, paused int64) {
			of := v1alpha1.StageStatus{Name: name}
			of.Requests, of.DurationMilliseconds, of.PausedMilliseconds = requests, ptr.To[int64](1000), ptr.To(paused)
			x.Spec.Load.Stages = append(x.Spec.Load.Stages, v1alpha1.Stage{Name: name})
			x.Status.Load.Stages = append(x.Status.Load.Stages, of)
		}
		x.Spec.Load.Stages = nil
		stage("held", 10, 50)
		stage("free", 10, 0)
		stage("empty", 0, 0)
		l := x.Status.Load
		l.Requests, l.DurationMilliseconds, l.PausedMilliseconds = 2000, ptr.To[int64](100_000), ptr.To[int64](50)
	})
	found := map[string]v1alpha1.TrialsFigure{}
	for _, f := range p.Status.Variants[0].Figures {
		found[string(f.Name)+" "+f.Stage] = f
	}
	if _, has := found["failedRequests empty"]; has || found["requests held"].MedianAtLeast != "10" || found["requests free"].Median != "10" || found["requests "].Median != "2000" {
		t.Errorf("%+v", found)
	}
}

// TestLoadsOfOtherStagesAreNotCompared: a longer load with a slow stage has fewer requests a second, whatever the variant.
func TestLoadsOfOtherStagesAreNotCompared(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_000)
		common := v1alpha1.StageStatus{Name: "steady"}
		common.RequestsPerSecondMilli = ptr.To[int64](100_000)
		x.Status.Load.Stages = []v1alpha1.StageStatus{common}
		if run.Variant == "b" {
			x.Spec.Load.Stages = append(x.Spec.Load.Stages, v1alpha1.Stage{Name: "slow", Users: ptr.To[int64](1)})
		}
	})
	if c := p.Status.Comparisons; len(c) != 1 || c[0].Stage != "steady" || c[0].RatioPercent != "100" {
		t.Errorf("%+v", c)
	}
	if !slices.Contains(p.Status.Notes, "b and a have different stages: their whole loads are not compared.") {
		t.Errorf("notes %q", p.Status.Notes)
	}
	for _, x := range p.experiments { // a stage that does not count makes no difference
		if stages := x.Spec.Load.Stages; len(stages) > 1 {
			stages[1].Discard = true
		}
	}
	suite.Summarize(p.ReplicationSuite, p.experiments)
	if c := p.Status.Comparisons; len(c) != 2 || c[0].Stage != "" {
		t.Errorf("beside a discarded stage: %+v", c)
	}
}

func TestManyUnusableRunsOfAVariantAreNoted(t *testing.T) {
	for every, want := range map[int32]bool{2: true, 6: false} {
		p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			rate(x, 1000)
			if run.Variant == "b" && run.Round%every == 0 {
				run.Verdict = v1alpha1.VerdictInconclusive
			}
		})
		if said := slices.ContainsFunc(p.Status.Notes, func(n string) bool { return strings.Contains(n, "runs of variant b were Inconclusive") }); said != want {
			t.Errorf("every %d: notes %q", every, p.Status.Notes)
		}
	}
}

// TestFiguresOfListsAreOfTheSameItem in all trials, although nodes have their trial's name.
func TestFiguresOfListsAreOfTheSameItem(t *testing.T) {
	spec := strings.Replace(pair, "metrics: [requestsPerSecond]", "metrics: [replicationSentBytes, stageCPUMillicores, requestedRoundTripMicroseconds]", 1) + `
  expectations: [{comparison: b/a, metric: replicationSentBytes, item: db-1 to db-0, maxPercent: 2}]
`
	p := play(t, spec, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		x.Name = run.Name
		back := int64(10_000)
		if run.Variant == "b" {
			back = 150
		}
		x.Status.Replication = &v1alpha1.ReplicationStatus{Traffic: []v1alpha1.TrafficStatus{
			{Name: x.Name + "-db-0 to " + x.Name + "-db-1", SentBytes: 20_000}, {Name: x.Name + "-db-1 to " + x.Name + "-db-0", SentBytes: back},
		}}
		x.Status.Distance = &v1alpha1.DistanceStatus{RoundTrips: []v1alpha1.RoundTripStatus{{From: x.Name + "-db-0", To: x.Name + "-db-1", RequestedMicroseconds: 20_000}}}
		x.Status.Load = &v1alpha1.LoadStatus{Stages: []v1alpha1.StageStatus{{Name: "steady", Resources: []v1alpha1.StageResources{
			{Name: x.Name + "-db-0", ResourceFigures: v1alpha1.ResourceFigures{CPUMillicores: 500}}, {Name: "app", ResourceFigures: v1alpha1.ResourceFigures{CPUMillicores: back}},
		}}}}
	})
	var got []string
	for _, c := range p.Status.Comparisons {
		got = append(got, fmt.Sprintf("%s %s %s: %s%% of %d", c.Metric, c.Stage, c.Item, c.RatioPercent, c.N))
	}
	want := []string{
		"replicationSentBytes  db-0 to db-1: 100% of 6", "replicationSentBytes  db-1 to db-0: 1.5% of 6",
		"stageCPUMillicores steady db-0: 100% of 6", "stageCPUMillicores steady app: 1.5% of 6",
		"requestedRoundTripMicroseconds  db-0 to db-1: 100% of 6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if e := p.Status.Expectations[0]; e.Met != metav1.ConditionTrue || !strings.Contains(e.Expectation, "replicationSentBytes of db-1 to db-0 max 2%") {
		t.Errorf("%+v", e)
	}
	values := map[string]int{}
	for _, v := range suite.Values(p.ReplicationSuite, p.experiments) {
		if v.Item != "" {
			values[v.Item]++
		}
	}
	if diff := cmp.Diff(map[string]int{"db-0 to db-1": 24, "db-1 to db-0": 12, "db-0": 12, "app": 12}, values); diff != "" {
		t.Error(diff)
	}
}

// TestTrialsOfDifferentSoftwareAreNoted: an upgrade between two rounds, or another script in the same place.
func TestTrialsOfDifferentSoftwareAreNoted(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.ReplicationExperimentStatus){
		"":       func(*v1alpha1.ReplicationExperimentStatus) {},
		"image":  func(s *v1alpha1.ReplicationExperimentStatus) { s.Images = &v1alpha1.ImagesStatus{Replab: "replab:2"} },
		"script": func(s *v1alpha1.ReplicationExperimentStatus) { s.ScriptHash = "2" },
	} {
		p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			x.Name = run.Name
			rate(x, 1000)
			if run.Name == "s-b-4" {
				change(&x.Status)
			}
		})
		notes := strings.Join(p.Status.Notes, "\n")
		if said := strings.Contains(notes, "Trials s-b-1 and s-b-4 ran different images, versions or scripts: the figures of b mix both."); said != (name != "") || strings.Contains(notes, "of a mix") {
			t.Errorf("%q: %s", name, notes)
		}
	}
}

// TestTheStatusHoldsSoManyFigures: more would be refused by the API server, again and again.
func TestTheStatusHoldsSoManyFigures(t *testing.T) {
	p := play(t, strings.Replace(pair, "[requestsPerSecond]", "[requestsPerSecond, stageThreadsPeak]", 1), 12, func(_ *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 1000)
		x.Spec.Load.Stages = nil
		for i := range 30 {
			stage := v1alpha1.StageStatus{Name: fmt.Sprintf("s%d", i)}
			for j := range 10 {
				stage.Resources = append(stage.Resources, v1alpha1.StageResources{Name: fmt.Sprintf("r%d", j), ResourceFigures: v1alpha1.ResourceFigures{ThreadsPeak: 1}})
			}
			x.Spec.Load.Stages = append(x.Spec.Load.Stages, v1alpha1.Stage{Name: stage.Name})
			x.Status.Load.Stages = append(x.Status.Load.Stages, stage)
		}
	})
	if n := len(p.Status.Variants[0].Figures); n != 256 || !slices.ContainsFunc(p.Status.Notes, func(n string) bool { return strings.Contains(n, "256 figures of variant a") }) {
		t.Errorf("%d figures, notes %q", n, p.Status.Notes)
	}
	for len(p.Spec.Variants) < 16 {
		p.Spec.Variants = append(p.Spec.Variants, v1alpha1.SuiteVariant{Name: fmt.Sprintf("more-%d", len(p.Spec.Variants))})
	}
	suite.Summarize(p.ReplicationSuite, p.experiments)
	if n := len(p.Status.Variants[0].Figures); n != 128 {
		t.Errorf("%d figures of one of 16 variants", n)
	}
}

func TestUnreliableTrialsDoNotEnterFigures(t *testing.T) {
	p := play(t, pair, 6, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_000)
		if run.Round == 2 {
			run.Verdict = v1alpha1.VerdictInconclusive
			rate(x, 1)
		}
	})
	if f := figureOf(t, p.Status.Variants[0], "requestsPerSecond"); f.N != 5 || f.Median != "100" || f.Low != "" || p.Status.Variants[0].Trials != 5 {
		t.Errorf("%+v", f)
	}
}

func TestComparisonsGoByRounds(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		base := 100_000 * int64(run.Round) // a drift that hides the difference from anything but rounds
		if run.Variant == "b" {
			base = base * (90 + int64(run.Round%2)) / 100
		}
		rate(x, base)
	})
	c := p.Status.Comparisons[0]
	if c.Conclusion != "Lower" || c.N != 6 || c.Low != "90" || c.High != "91" || c.P != "0.031" || !strings.HasPrefix(string(c.RatioPercent), "90.") {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(p.Status.Notes, func(n string) bool { return strings.Contains(n, "one after the other") }) {
		t.Errorf("notes: %v", p.Status.Notes)
	}
}

func TestUndecidedComparisonsNameTheRoundsNeeded(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 100_000)
		if run.Variant == "b" {
			rate(x, []int64{80_000, 125_000, 90_000, 118_000, 95_000, 109_000}[run.Round-1])
		}
	})
	c := p.Status.Comparisons[0]
	if c.Conclusion != "Undecided" || c.RoundsNeeded <= 6 {
		t.Errorf("%+v", c)
	}
}

// A metric may be 0 in rounds, as lost writes are: these rounds count, and a ratio to 0 is no number.
func TestComparisonsCountRoundsOfZeros(t *testing.T) {
	spec := strings.Replace(pair, "[requestsPerSecond]", "[lostWrites]", 1)
	lost := func(a, b int64) func(*v1alpha1.TrialRun, *v1alpha1.ReplicationExperiment) {
		return func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			x.Status.Writes = &v1alpha1.WritesStatus{Lost: &a}
			if run.Variant == "b" {
				x.Status.Writes.Lost = &b
			}
		}
	}
	higher := v1alpha1.SuiteComparisonStatus{Of: "b", To: "a", Metric: "lostWrites", N: 6, P: "0.031", Conclusion: "Higher"}
	if diff := cmp.Diff(higher, play(t, spec, 12, lost(0, 5)).Status.Comparisons[0]); diff != "" {
		t.Error(diff)
	}
	lower := v1alpha1.SuiteComparisonStatus{Of: "b", To: "a", Metric: "lostWrites", N: 6, P: "0.031", RatioPercent: "0", Low: "0", High: "0", Conclusion: "Lower"}
	if diff := cmp.Diff(lower, play(t, spec, 12, lost(5, 0)).Status.Comparisons[0]); diff != "" {
		t.Error(diff)
	}
}

func TestLossesCountTrialsThatMayHaveLostSome(t *testing.T) {
	p := play(t, pair, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		lost := []int64{0, 0, 0, 3, 3, 3}[run.Round-1]
		x.Status.Writes = &v1alpha1.WritesStatus{Lost: &lost}
		switch {
		case run.Variant == "a" && run.Round == 1: // there may be more
			x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "writes.lost", AtLeast: &lost, Because: "the audit missed a table"}}
		case run.Round == 2, run.Round == 6:
			run.Verdict = v1alpha1.VerdictInconclusive
		case run.Variant == "b" && run.Round == 5: // there may be none
			run.Verdict = v1alpha1.VerdictInconclusive
			x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "writes.lost", AtMost: &lost, Because: "a node was not read"}}
		case run.Variant == "b":
			x.Status.Writes = nil
		}
	})
	for i, want := range []*v1alpha1.LossesStatus{{LostIn: 3, LostInAtMost: 4, Of: 5, UpperPercent: 99}, {LostIn: 1, LostInAtMost: 2, Of: 2, UpperPercent: 100}} {
		if diff := cmp.Diff(want, p.Status.Variants[i].Losses); diff != "" {
			t.Error(diff)
		}
	}
}

// TestALossThatMayBeNoneProvesNoMiss: nor does it prove that nothing was lost.
func TestALossThatMayBeNoneProvesNoMiss(t *testing.T) {
	for name, bound := range map[string]*int64{"at most 3": ptr.To[int64](3), "contradicted": nil} {
		p := play(t, pair+"  expectations: [{variant: a, metric: lostWrites, max: 0}]\n", 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}
			if run.Variant == "a" && run.Round == 3 {
				run.Verdict, x.Status.Writes.Lost = v1alpha1.VerdictInconclusive, ptr.To[int64](3)
				x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "writes.lost", AtMost: bound, Because: "a node was not read"}}
			}
		})
		if diff := cmp.Diff(&v1alpha1.LossesStatus{LostInAtMost: 1, Of: 6, UpperPercent: 59}, p.Status.Variants[0].Losses); diff != "" || p.Status.Expectations[0].Met != metav1.ConditionUnknown {
			t.Errorf("%s: %s %+v", name, diff, p.Status.Expectations[0])
		}
	}
}

// TestNoRepetitionHidesALoss that an Inconclusive run may have had. A control that asks for one is met by the repetition.
func TestNoRepetitionHidesALoss(t *testing.T) {
	for name, c := range map[string]struct {
		expectation string
		again       int64 // lost by the repetition
		met         metav1.ConditionStatus
	}{
		"a maximum":                     {"max: 0", 0, "Unknown"},
		"a maximum that may be passed":  {"max: 5", 0, "Unknown"},
		"a maximum that is passed then": {"max: 0", 1, "False"},
		"a control":                     {"min: 1, inAtLeastTrials: 1", 1, "True"},
	} {
		spec := strings.Replace(pair, "retries: 0", "retries: 1", 1) + "  expectations: [{variant: a, metric: lostWrites, " + c.expectation + "}]\n"
		p := play(t, spec, 13, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}
			switch {
			case run.Variant != "a" || run.Round != 3:
			case run.Attempt == 1:
				run.Verdict, x.Status.Writes.Lost = v1alpha1.VerdictInconclusive, ptr.To[int64](7)
				x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "writes.lost", Because: "another node took over"}}
			default:
				x.Status.Writes.Lost = &c.again
			}
		})
		if got := p.Status.Expectations[0]; got.Met != c.met || p.Status.Trials.Repeated != 1 {
			t.Errorf("%s: %+v, want %s", name, got, c.met)
		}
	}
}

func TestVariantsThatDifferOtherwiseAreNoted(t *testing.T) {
	p := play(t, strings.Replace(pair, "{name: b}", "{name: b, patch: {dataset: {users: 5}}}", 1), 0, nil)
	if len(p.Status.Notes) == 0 || p.Status.Notes[0] != "b and a also differ in spec.dataset." {
		t.Errorf("%v", p.Status.Notes)
	}
}

func TestExpectations(t *testing.T) {
	// lost writes of six trials; -1 was not measured, and of 100 + n it is known that there were n at least
	for name, c := range map[string]struct {
		expectation string
		lost        []int64
		met         metav1.ConditionStatus
		verdict     v1alpha1.Verdict
	}{
		"none lost":                           {"max: 0", []int64{0, 0, 0, 0, 0, 0}, "True", "Passed"},
		"one lost":                            {"max: 0", []int64{0, 0, 3, 0, 0, 0}, "False", "Failed"},
		"one unknown":                         {"max: 0", []int64{0, 0, -1, 0, 0, 0}, "Unknown", "Inconclusive"},
		"not all have run":                    {"max: 0", []int64{0, 0}, "Unknown", "Inconclusive"},
		"one is lost before all have run":     {"max: 0", []int64{0, 1}, "False", "Failed"},
		"a bound that is too much":            {"max: 2", []int64{0, 0, 103, 0, 0, 0}, "False", "Failed"},
		"a bound that may be too much":        {"max: 2", []int64{0, 0, 101, 0, 0, 0}, "Unknown", "Inconclusive"},
		"a control that may still hold":       {"min: 1, inAtLeastTrials: 4", []int64{0, 5}, "Unknown", "Inconclusive"},
		"a control that holds":                {"min: 1, inAtLeastTrials: 4", []int64{5, 5, 0, 101, -1, 1}, "True", "Passed"},
		"a control that cannot hold any more": {"min: 1, inAtLeastTrials: 4", []int64{0, 0, 0}, "False", "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := strings.Replace(pair, ", {name: b}", "", 1)
			spec = spec[:strings.Index(spec, "  comparisons")] + "  expectations: [{variant: a, metric: lostWrites, " + c.expectation + "}]\n"
			p := play(t, spec, len(c.lost), func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
				switch lost := c.lost[run.Round-1]; {
				case lost >= 100:
					x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To(lost - 100)}
					x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "writes.lost", AtLeast: ptr.To(lost - 100), Because: "some were not read"}}
				case lost >= 0:
					x.Status.Writes = &v1alpha1.WritesStatus{Lost: &lost}
				}
			})
			suite.Conclude(p.ReplicationSuite)
			if got := p.Status.Expectations[0]; got.Met != c.met || p.Status.Verdict != c.verdict {
				t.Errorf("%+v: %s %v", got, p.Status.Verdict, p.Status.Reasons)
			}
		})
	}
}

func TestExpectedRatioIsTheWholeInterval(t *testing.T) {
	for percent, met := range map[int]metav1.ConditionStatus{89: "True", 91: "Unknown", 93: "False"} {
		spec := pair + fmt.Sprintf("  expectations: [{comparison: b/a, metric: requestsPerSecond, minPercent: %d}]\n", percent)
		p := play(t, spec, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			rate(x, 100_000)
			if run.Variant == "b" {
				rate(x, 90_000+400*int64(run.Round))
			}
		})
		if got := p.Status.Expectations[0]; got.Met != met {
			t.Errorf("at least %d%%: %+v, %+v", percent, got, p.Status.Comparisons[0])
		}
	}
}

func TestRemainingTrialsTakeAsLongAsThoseBefore(t *testing.T) {
	p := play(t, pair, 7, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		rate(x, 1000)
		if run.Variant == "b" {
			run.CompletionTime = ptr.To(metav1.NewTime(run.StartTime.Add(100 * time.Second)))
		}
	})
	want := time.Date(2026, 1, 1, 12, 12, 0, 0, time.UTC).Add(6 * 100 * time.Second)
	if got := p.Status.EstimatedCompletionTime; got == nil || !got.Equal(ptr.To(metav1.NewTime(want))) {
		t.Errorf("%v, want %v", got, want)
	}
	if none := play(t, pair, 0, nil); none.Status.EstimatedCompletionTime != nil {
		t.Errorf("before the first trial: %v", none.Status.EstimatedCompletionTime)
	}
}

func TestTheMostInterestingTrialsAreKept(t *testing.T) {
	p := play(t, pair+"  keepTrials: 2\n", 6, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
		switch run.Round {
		case 1:
			run.Verdict = v1alpha1.VerdictInconclusive
		case 3: // nothing was made for it
			run.Verdict, x.Status.StartTime = v1alpha1.VerdictFailed, nil
			x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](1)}
		case 2:
			run.Verdict = v1alpha1.VerdictFailed
		case 4, 5:
			x.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](1)}
		}
		if run.Round == 4 { // a control that asks for losses
			x.Status.Goals = []v1alpha1.GoalStatus{{Metric: "lostWrites", Met: metav1.ConditionTrue}}
		}
	})
	if diff := cmp.Diff(map[string]bool{"s-a-5": true, "s-a-2": true}, suite.Kept(p.ReplicationSuite, p.experiments)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatDidNotDecideIsANote: expectations that are unknown beside a missed one, and trials that stayed Inconclusive.
func TestWhatDidNotDecideIsANote(t *testing.T) {
	spec := pair[:strings.Index(pair, "  comparisons")] + "  expectations: [{variant: a, metric: lostWrites, max: 0}, {variant: b, metric: lostWrites, max: 0}]\n"
	for lost, want := range map[int64][]string{
		1: {"Failed", "Expectation not met: a", "|", "Expectation unknown: b", "No trial of variant b", "Trials that stayed Inconclusive without retries left: 6."},
		0: {"Inconclusive", "Expectation unknown: b", "No trial of variant b", "|", "Trials that stayed Inconclusive without retries left: 6."},
	} {
		p := play(t, spec, 12, func(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) {
			if run.Variant == "b" {
				run.Verdict = v1alpha1.VerdictInconclusive
			} else {
				x.Status.Writes = &v1alpha1.WritesStatus{Lost: &lost}
			}
		})
		p.Status.Notes = nil
		suite.Conclude(p.ReplicationSuite)
		got := slices.Concat([]string{string(p.Status.Verdict)}, p.Status.Reasons, []string{"|"}, p.Status.Notes)
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMissedGoalsOfTrialsAreNoted: a suite that Passed must not hide them.
func TestMissedGoalsOfTrialsAreNoted(t *testing.T) {
	spec := pair[:strings.Index(pair, "  comparisons")]
	p := play(t, spec, 12, func(run *v1alpha1.TrialRun, _ *v1alpha1.ReplicationExperiment) {
		if run.Variant == "b" {
			run.Verdict = v1alpha1.VerdictFailed
		}
	})
	p.Status.Notes = nil
	suite.Conclude(p.ReplicationSuite)
	const want = "Trials that missed a goal of their own: 6. Only expectations decide a suite."
	if p.Status.Verdict != v1alpha1.VerdictPassed || !slices.Contains(p.Status.Notes, want) {
		t.Errorf("%s: %q", p.Status.Verdict, p.Status.Notes)
	}
}
