package suite_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/suite"
	"replab.dev/test/experiment"
)

func parse(t *testing.T, spec string) *v1alpha1.ReplicationSuite {
	t.Helper()
	return experiment.ParseSuite(t, []byte("apiVersion: replab.dev/v1alpha1\nkind: ReplicationSuite\nmetadata: {name: s}\nspec:\n"+spec))
}

const three = `
  template: {spec: {topology: {type: Async, nodes: 3}, load: {stages: [{name: warm, durationSeconds: 10, users: 1}, {name: steady, durationSeconds: 20, users: 5}]}}}
  variants: [{name: a}, {name: b, patch: {topology: {type: SemiSync, semiSync: {ackReplicas: 1}}}}, {name: c, patch: {topology: {nodes: 2}}}]
  trials: 20
`

func TestEveryRoundRunsEachVariantOnce(t *testing.T) {
	trials := suite.Trials(&parse(t, three).Spec)
	orders := map[string]bool{}
	for round := range 20 {
		seen, order := map[string]bool{}, ""
		for _, trial := range trials[3*round : 3*round+3] {
			if trial.Round != int32(round+1) {
				t.Fatalf("%v is in round %d", trial, round+1)
			}
			seen[trial.Variant] = true
			order += trial.Variant
		}
		orders[order] = true
		if len(seen) != 3 {
			t.Errorf("round %d has %v", round+1, seen)
		}
	}
	if len(trials) != 60 || len(orders) < 4 {
		t.Errorf("%d trials, in the orders %v", len(trials), orders)
	}
	if diff := cmp.Diff(trials, suite.Trials(&parse(t, three).Spec)); diff != "" {
		t.Error("the same seed gives other trials:\n" + diff)
	}
	if cmp.Equal(trials, suite.Trials(&parse(t, three+"  seed: 2\n").Spec)) {
		t.Error("another seed gives the same order")
	}
}

func TestSequentialTrialsFollowTheVariants(t *testing.T) {
	trials := suite.Trials(&parse(t, three+"  order: Sequential\n").Spec)
	if trials[19] != (suite.Trial{Variant: "a", Round: 20}) || trials[20] != (suite.Trial{Variant: "b", Round: 1}) {
		t.Errorf("%v", trials[18:22])
	}
}

func TestNamesOfRunsDiffer(t *testing.T) {
	s := parse(t, strings.Replace(three, "name: c", "name: a-1", 1))
	names := map[string]bool{}
	for _, trial := range suite.Trials(&s.Spec) {
		for attempt := int32(1); attempt < 4; attempt++ {
			names[trial.Name(s.Name, attempt)] = true
		}
	}
	if len(names) != 180 {
		t.Errorf("180 runs have %d names", len(names))
	}
}

func TestPatchesAreMergedIntoTheTemplate(t *testing.T) {
	s := parse(t, strings.Replace(three, "nodes: 2}}", "nodes: 2, type: null}, load: {stages: []}}", 1))
	for variant, want := range map[string]string{
		"b": `{"nodes":3,"semiSync":{"ackReplicas":1},"type":"SemiSync"}`,
		"c": `{"nodes":2}`,
	} {
		spec, err := suite.Spec(&s.Spec, variant)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(spec["topology"]); string(text) != want {
			t.Errorf("%s: %s, want %s", variant, text, want)
		}
	}
}

const drawn = three + `
  drawFaults: {count: 3, actions: [Kill, KillServer, Pause, Partition], nodes: [1, 2], partitionFrom: [Peers, Store], minSeconds: 5, maxSeconds: 9, restSeconds: 30}
`

// drawnFaults of a variant in a round, with the seconds of its load.
func drawnFaults(t *testing.T, s *v1alpha1.ReplicationSuite, variant string, round int32) ([]v1alpha1.Fault, int64) {
	t.Helper()
	u, err := suite.Experiment(s, v1alpha1.TrialRun{Name: "x", Variant: variant, Round: round, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(u.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	var spec v1alpha1.ReplicationExperimentSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	return spec.Faults, spec.Load.Seconds()
}

func TestDrawnFaultsAreThoseOfTheRound(t *testing.T) {
	s := parse(t, drawn)
	actions, sizes := map[v1alpha1.FaultAction]bool{}, map[int]bool{}
	seen := map[string]bool{}
	for round := int32(1); round <= 20; round++ {
		faults, _ := drawnFaults(t, s, "a", round)
		for _, other := range []string{"b", "c"} {
			if same, _ := drawnFaults(t, s, other, round); !cmp.Equal(faults, same) {
				t.Errorf("round %d: variant %s has other faults", round, other)
			}
		}
		at := map[int64]int{}
		for _, f := range faults {
			actions[f.Action] = true
			at[f.AtSeconds]++
			if *f.Node > 1 || f.AtSeconds < 12 {
				t.Errorf("%+v, and one variant has 2 nodes", f)
			}
			if held := f.HoldSeconds; f.Action != v1alpha1.ActionKillServer && (held < 5 || held > 9) || f.Action == v1alpha1.ActionKillServer && held != 0 {
				t.Errorf("%s holds %d s", f.Name, held)
			}
			if cut := f.PartitionFrom; (cut == "Peers" || cut == "Store") != (f.Action == v1alpha1.ActionPartition) {
				t.Errorf("%s cuts off from %q", f.Action, cut)
			}
		}
		for _, n := range at {
			sizes[n] = true
		}
		if len(at) != 3 {
			t.Errorf("round %d has %d moments of faults", round, len(at))
		}
		seen[fmt.Sprint(slices.Sorted(maps.Keys(at)))] = true
	}
	if len(actions) != 4 || !sizes[1] || !sizes[2] || len(seen) < 15 {
		t.Errorf("drawn are %v on %v nodes at once, in %d ways", actions, sizes, len(seen))
	}
}

func TestLoadFitsTheDrawnFaults(t *testing.T) {
	s := parse(t, drawn)
	for round := int32(1); round <= 20; round++ {
		faults, seconds := drawnFaults(t, s, "a", round)
		last := faults[len(faults)-1]
		if want := last.AtSeconds + last.HoldSeconds + 30; seconds != want {
			t.Errorf("round %d: the load takes %d s, want %d", round, seconds, want)
		}
		for i, f := range faults[1:] {
			if before := faults[i]; f.AtSeconds != before.AtSeconds && f.AtSeconds < before.AtSeconds+before.HoldSeconds+30 {
				t.Errorf("round %d: %s does not rest after %s", round, f.Name, before.Name)
			}
		}
	}
}

func TestFaultsComeDuringPartitions(t *testing.T) {
	s := parse(t, three+"  drawFaults: {count: 2, actions: [Kill], duringPartitionSeconds: 7}\n")
	for round := int32(1); round <= 20; round++ {
		faults, _ := drawnFaults(t, s, "a", round)
		for i := 0; i < len(faults); i += 2 {
			cut, f := faults[i], faults[i+1]
			if cut.Action != v1alpha1.ActionPartition || f.Action != v1alpha1.ActionKill || f.AtSeconds < cut.AtSeconds+7 || f.AtSeconds > cut.AtSeconds+cut.HoldSeconds-2 {
				t.Errorf("round %d: %+v in %+v", round, f, cut)
			}
		}
	}
}

// TestDrawnFaultsWaitUntilTheyCount: a fault in a stage that is discarded, or before the end of a rest, would be refused.
func TestDrawnFaultsWaitUntilTheyCount(t *testing.T) {
	const steady = "{name: steady, durationSeconds: 20, users: 5}"
	for name, c := range map[string]struct {
		stages, other string // other are the stages of the second variant, "" for the same
		from          int64
	}{
		"no warm-up":                   {steady, "", 12},
		"a short warm-up":              {"{name: warm, durationSeconds: 12, users: 5, discard: true}, " + steady, "", 12},
		"a long warm-up":               {"{name: warm, durationSeconds: 40, users: 5, discard: true}, " + steady, "", 40},
		"a warm-up in two stages":      {"{name: a, durationSeconds: 10, users: 1, discard: true}, {name: b, durationSeconds: 10, users: 5, discard: true}, " + steady, "", 20},
		"a rest after the warm-up":     {"{name: warm, durationSeconds: 10, users: 5, discard: true}, {name: idle, durationSeconds: 15, users: 0}, " + steady, "", 25},
		"stages without distance":      {"{name: near, durationSeconds: 20, users: 5, discard: true, distance: None}, {name: leave, durationSeconds: 10, users: 5, discard: true}, " + steady, "", 30},
		"a rest after a stage":         {"{name: first, durationSeconds: 20, users: 5}, {name: idle, durationSeconds: 10, users: 0}, " + steady, "", 30},
		"an open loop":                 {"{name: open, durationSeconds: 20, requestsPerSecond: 5}, " + steady, "", 12},
		"a discarded stage later":      {"{name: first, durationSeconds: 20, users: 5}, {name: ramp, durationSeconds: 10, users: 9, discard: true}, " + steady, "", 12},
		"a warm-up of another variant": {steady, "{name: warm, durationSeconds: 60, users: 5, discard: true}, " + steady, 60},
	} {
		t.Run(name, func(t *testing.T) {
			if c.other == "" {
				c.other = c.stages
			}
			s := parse(t, fmt.Sprintf(`
  template: {spec: {topology: {type: Async, nodes: 3}, load: {stages: [%s]}}}
  variants: [{name: a}, {name: b, patch: {load: {stages: [%s]}}}]
  trials: 20
  drawFaults: {count: 2, actions: [Kill], restSeconds: 40}
`, c.stages, c.other))
			for round := int32(1); round <= 20; round++ {
				faults, seconds := drawnFaults(t, s, "a", round)
				others, otherSeconds := drawnFaults(t, s, "b", round)
				if !cmp.Equal(faults, others) {
					t.Errorf("round %d: the variants have different faults", round)
				}
				if at := faults[0].AtSeconds; at < c.from || at > c.from+3 {
					t.Errorf("round %d: the first fault comes at %d s, want %d s or up to 3 s later", round, at, c.from)
				}
				last := faults[len(faults)-1]
				if want := last.AtSeconds + last.HoldSeconds + 40; seconds != want || otherSeconds != want {
					t.Errorf("round %d: the loads take %d and %d s, want %d", round, seconds, otherSeconds, want)
				}
			}
		})
	}
}

func TestAShortWarmUpDrawsTheSameFaults(t *testing.T) {
	was, now := parse(t, drawn), parse(t, strings.Replace(drawn, "users: 1}", "users: 1, discard: true}", 1))
	for round := int32(1); round <= 20; round++ {
		before, _ := drawnFaults(t, was, "a", round)
		if after, _ := drawnFaults(t, now, "a", round); !cmp.Equal(before, after) {
			t.Errorf("round %d: %s", round, cmp.Diff(before, after))
		}
	}
}

func TestFaultsOnMoreNodesThanAVariantHas(t *testing.T) {
	for name, c := range map[string]struct{ variants, nodes, want string }{
		"as many as all have":       {"[{name: a}, {name: b, patch: {topology: {nodes: 2}}}]", "[1, 2]", ""},
		"more than one variant has": {"[{name: a}, {name: b, patch: {topology: {nodes: 2}}}]", "[3, 1]", "spec.drawFaults.nodes: a fault would hit 3 nodes, and variant b has only 2. Use at most 2, or raise the variant's topology.nodes."},
		"a server alone":            {"[{name: single, patch: {topology: {type: Single, nodes: null}}}, {name: a}]", "[2]", "spec.drawFaults.nodes: a fault would hit 2 nodes, and variant single has only 1."},
		"a number that is none":     {`[{name: a, patch: {topology: {nodes: "many"}}}]`, "[3]", ""}, // refused with the experiment
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, fmt.Sprintf(`
  template: {spec: {topology: {type: Async, nodes: 3}, load: {stages: [{name: steady, durationSeconds: 20, users: 5}]}}}
  variants: %s
  trials: 2
  drawFaults: {actions: [Pause], nodes: %s}
`, c.variants, c.nodes))
			tried := 0
			wrong, err := suite.Refused(s, func(v1alpha1.TrialRun) (*v1alpha1.ReplicationExperiment, []string, error) {
				tried++
				return &v1alpha1.ReplicationExperiment{}, nil, nil
			})
			got := strings.Join(wrong, "\n")
			if err != nil || !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") || (got == "") != (tried > 0) {
				t.Errorf("%q after %d trials, %v, want %q", got, tried, err, c.want)
			}
			if words := len(strings.Fields(got)); words > 26 { // the field and 25 words
				t.Errorf("%d words: %s", words, got)
			}
		})
	}
}

// TestImpossibleNodesAreDrawn without harm: the experiment is refused afterwards.
func TestImpossibleNodesAreDrawn(t *testing.T) {
	for _, nodes := range []string{"-1", "0", "9000000000000000000", `"three"`, "null"} {
		s := parse(t, strings.NewReplacer("nodes: 3", "nodes: "+nodes, ", {name: c, patch: {topology: {nodes: 2}}}", "").Replace(drawn))
		if _, err := suite.Experiment(s, v1alpha1.TrialRun{Name: "x", Variant: "a", Round: 1, Attempt: 1}); err != nil {
			t.Errorf("%s nodes: %v", nodes, err)
		}
	}
}

func TestOnlyFixedFieldsChangeTheHash(t *testing.T) {
	hash := func(change func(*v1alpha1.ReplicationSuiteSpec)) string {
		s := parse(t, three)
		change(&s.Spec)
		h, err := suite.Hash(&s.Spec)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	was := hash(func(*v1alpha1.ReplicationSuiteSpec) {})
	free := hash(func(s *v1alpha1.ReplicationSuiteSpec) { s.KeepTrials, s.Suspend, s.Abort = 9, true, true })
	if free != was || hash(func(s *v1alpha1.ReplicationSuiteSpec) { s.Trials = 21 }) == was ||
		hash(func(s *v1alpha1.ReplicationSuiteSpec) { s.Template.Spec.Raw = []byte(`{"topology":{"type":"Single"}}`) }) == was {
		t.Error("the hash does not tell fixed fields from the others")
	}
}

func TestTrialsAreTheSuites(t *testing.T) {
	s := parse(t, three)
	u, err := suite.Experiment(s, v1alpha1.TrialRun{Name: "s-a-1", Variant: "a", Round: 1, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	keep, _, _ := unstructured.NestedString(u.Object, "spec", "keep")
	owners := u.GetOwnerReferences()
	if keep != "Always" || u.GetLabels()["replab.dev/suite"] != "s" || len(owners) != 1 || owners[0].UID != s.UID || !*owners[0].Controller {
		t.Errorf("keep %s, labels %v, owners %v", keep, u.GetLabels(), owners)
	}
}
