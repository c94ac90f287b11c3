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
