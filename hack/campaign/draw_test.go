package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
)

func drawOf(t *testing.T, actions, members string, d draw) draw {
	t.Helper()
	d.Rest, d.Seed = 15, 7
	must(t, d.set(actions, members, ""))
	return d
}

func drawnInto(t *testing.T, d draw, number int) *unstructured.Unstructured {
	t.Helper()
	x := subjectOf(t, options{file: semisync}).experiment
	must(t, d.into(x, number))
	return x
}

func faultsIn(t *testing.T, x *unstructured.Unstructured) (faults []map[string]any) {
	t.Helper()
	all, _, err := unstructured.NestedSlice(x.Object, "spec", "faults")
	must(t, err)
	for _, f := range all {
		faults = append(faults, f.(map[string]any))
	}
	return faults
}

// TestDrawnFaults depend on the seed and the number of the run, hit each node once at a moment, and fit into the load.
func TestDrawnFaults(t *testing.T) {
	d := drawOf(t, "Kill,Pause,Partition", "1,2", draw{Faults: 1})
	seen := map[string]bool{}
	for number := 1; number <= 60; number++ {
		faults := faultsIn(t, drawnInto(t, d, number))
		if again := faultsIn(t, drawnInto(t, d, number)); fmt.Sprint(again) != fmt.Sprint(faults) {
			t.Fatalf("run %d drew %v, then %v", number, faults, again)
		}
		nodes := map[any]bool{}
		for _, f := range faults {
			at, hold, node := f["atSeconds"].(int64), f["holdSeconds"].(int64), f["node"].(int64)
			if nodes[node] || node < 0 || node > 2 || hold < 1 || at < firstAt || at+hold+d.Rest > 50 || (f["partitionFrom"] != nil) != (f["action"] == string(v1alpha1.ActionPartition)) {
				t.Errorf("run %d drew %v", number, faults)
			}
			nodes[node] = true
			seen[fmt.Sprint(f["action"], len(faults))] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("of 3 actions on 1 or 2 nodes only %v were drawn", seen)
	}
	other := d
	other.Seed = 8
	if fmt.Sprint(faultsIn(t, drawnInto(t, d, 1))) == fmt.Sprint(faultsIn(t, drawnInto(t, other, 1))) {
		t.Error("another seed draws the same")
	}
}

// TestFaultsDuringPartitions come once a group has given up whom it is cut off from, and before the cut's end; they come at every such moment.
func TestFaultsDuringPartitions(t *testing.T) {
	d := drawOf(t, "Kill,Pause", "1,2", draw{Faults: 2, During: true, After: 7, Fit: true})
	moments := map[int64]bool{}
	for number := 1; number <= 60; number++ {
		x := drawnInto(t, d, number)
		cuts := map[string][2]int64{}
		var ends int64
		for _, f := range faultsIn(t, x) {
			at, hold := f["atSeconds"].(int64), f["holdSeconds"].(int64)
			ends = max(ends, at+hold)
			kind, turn, _ := strings.Cut(f["name"].(string), "-")
			turn, _, _ = strings.Cut(turn, "-")
			switch {
			case kind == "cut" && f["action"] == string(v1alpha1.ActionPartition):
				cuts[turn] = [2]int64{at, at + hold}
			case kind != "draw" || f["action"] == string(v1alpha1.ActionPartition) || at < cuts[turn][0]+7 || at > cuts[turn][1]-2:
				t.Errorf("run %d drew %v; the cut is %v", number, f, cuts[turn])
			default:
				moments[at-cuts[turn][0]] = true
			}
		}
		stages, _, err := unstructured.NestedSlice(x.Object, "spec", "load", "stages")
		must(t, err)
		if got := field(stages[0], "durationSeconds") + field(stages[1], "durationSeconds"); got != ends+15 {
			t.Errorf("run %d: the load takes %d s, the last fault ends at %d", number, got, ends)
		}
	}
	if len(moments) != longest+1 {
		t.Errorf("in 120 partitions faults came %v s after the beginning, want each of 7 to 17", slices.Sorted(maps.Keys(moments)))
	}
}

// TestHoldsAndSidesThatAreDrawn are those that are named, and without a word the usual ones.
func TestHoldsAndSidesThatAreDrawn(t *testing.T) {
	d := draw{Faults: 1, Rest: 15, Seed: 7, Shortest: 25, Longest: 45, Fit: true}
	must(t, d.set("Kill,Partition", "1", "Peers,Clients"))
	seen := map[any]bool{}
	least, most := int64(1<<62), int64(0)
	for number := 1; number <= 300; number++ {
		for _, f := range faultsIn(t, drawnInto(t, d, number)) {
			hold := f["holdSeconds"].(int64)
			least, most = min(least, hold), max(most, hold)
			seen[f["partitionFrom"]] = true
		}
	}
	if least != 25 || most != 45 || len(seen) != 3 || !seen["Peers"] || !seen["Clients"] || !seen[nil] {
		t.Errorf("holds of %d to %d s, partitions from %v", least, most, seen)
	}
	if text := d.String(); !strings.Contains(text, "partitions from Peers, Clients, held for 25 to 45 s") {
		t.Errorf("it is called %q", text)
	}
	servers := draw{Faults: 1, Rest: 15, Seed: 7, Shortest: 25, Longest: 45, Fit: true}
	must(t, servers.set("KillServer,Partition", "1", "Store"))
	for number := 1; number <= 20; number++ {
		for _, f := range faultsIn(t, drawnInto(t, servers, number)) {
			if alone := f["action"] == "KillServer"; alone != (f["holdSeconds"] == int64(0)) || alone == (f["partitionFrom"] == "Store") {
				t.Errorf("run %d draws %v", number, f)
			}
		}
	}
	plain := drawOf(t, "Kill,Partition", "1", draw{Faults: 1, Fit: true})
	said := drawOf(t, "Kill,Partition", "1", draw{Faults: 1, Fit: true, Shortest: 1, Longest: 10})
	for number := 1; number <= 20; number++ {
		if a, b := fmt.Sprint(faultsIn(t, drawnInto(t, plain, number))), fmt.Sprint(faultsIn(t, drawnInto(t, said, number))); a != b {
			t.Errorf("run %d draws %s, and with the usual holds %s", number, a, b)
		}
	}
}

func TestALoadIsAsLongAsItsFaultsNeed(t *testing.T) {
	d := draw{Rest: 5, Fit: true}
	x := drawnInto(t, d, 1) // the crash of semisync.yaml, at 20 for 10 s; 5 s of warm-up
	stages, _, err := unstructured.NestedSlice(x.Object, "spec", "load", "stages")
	must(t, err)
	if got := field(stages[1], "durationSeconds"); got != 30 {
		t.Errorf("the last stage takes %d s, want 20 + 10 + 5 - 5", got)
	}
	none := draw{Rest: 5}
	before := fmt.Sprint(normal(subjectOf(t, options{file: semisync}).experiment))
	if after := fmt.Sprint(drawnInto(t, none, 1).Object); after != before {
		t.Errorf("without -faults and -fit the experiment is changed:\n%s\n%s", before, after)
	}
	long := drawOf(t, "Kill", "1", draw{Faults: 4})
	if err := long.into(subjectOf(t, options{file: semisync}).experiment, 1); err == nil {
		t.Error("four faults fit into a load of 50 s")
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		actions, members string
		draw             draw
		from             string
	}{
		"an action that is none":          {"Kill,Other", "1", draw{Faults: 1, Rest: 1}, ""},
		"no member":                       {"Kill", "0", draw{Faults: 1, Rest: 1}, ""},
		"a member that is no number":      {"Kill", "x", draw{Faults: 1, Rest: 1}, ""},
		"no fault":                        {"Kill", "1", draw{Rest: 1}, ""},
		"more than an experiment has":     {"Kill", "1,2", draw{Faults: 9, Rest: 1}, ""},
		"more with their partitions":      {"Kill", "1,2", draw{Faults: 5, Rest: 1, During: true, After: 7}, ""},
		"partitions in partitions":        {"Kill,Partition", "1", draw{Faults: 1, Rest: 1, During: true, After: 7}, ""},
		"nothing that comes in partition": {"", "1", draw{Rest: 1, During: true, After: 7}, ""},
		"no moment in a partition":        {"Kill", "1", draw{Faults: 1, Rest: 1, During: true}, ""},
		"a partition that does not end":   {"Kill", "1", draw{Faults: 1, Rest: 1, During: true, After: 61}, ""},
		"no rest":                         {"Kill", "1", draw{Faults: 1}, ""},
		"sides without a partition":       {"Kill", "1", draw{Faults: 1, Rest: 1}, "Peers"},
		"a side that takes others along":  {"Partition", "1", draw{Faults: 1, Rest: 1}, "Zone"},
		"sides of nothing":                {"", "1", draw{Rest: 1}, "Peers"},
		"holds of nothing":                {"", "1", draw{Rest: 1, Longest: 5}, ""},
		"a shortest above the longest":    {"Kill", "1", draw{Faults: 1, Rest: 1, Shortest: 11}, ""},
		"a hold of an hour":               {"Kill", "1", draw{Faults: 1, Rest: 1, Longest: 3600}, ""},
	} {
		if err := c.draw.set(c.actions, c.members, c.from); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
