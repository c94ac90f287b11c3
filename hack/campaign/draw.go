package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
)

// draw says which faults each run gets by chance, and how its load is fitted to its faults.
type draw struct {
	Actions []v1alpha1.FaultAction `json:"actions,omitempty"` // of which each fault has one; none: the experiment's own faults stay
	Members []int                  `json:"members,omitempty"` // how many nodes a fault hits at the same moment, one of these
	Faults  int                    `json:"faults,omitempty"`  // in a run, one after the other
	During  bool                   `json:"during,omitempty"`  // each fault comes while a partition holds
	After   int64                  `json:"after,omitempty"`   // seconds from the beginning of such a partition to the fault, at least
	// From is whom a drawn Partition cuts its node off from, one of these; none: everyone.
	From []v1alpha1.PartitionFrom `json:"from,omitempty"`
	// Shortest and Longest are seconds that a drawn fault holds; 0: the usual ones.
	Shortest int64 `json:"shortest,omitempty"`
	Longest  int64 `json:"longest,omitempty"`
	Rest     int64 `json:"rest"`          // seconds between a fault's end and the next, or the load's end
	Fit      bool  `json:"fit,omitempty"` // the last stage is as long as the faults need
	Seed     int64 `json:"seed"`
}

const (
	// firstAt is how long after the start of the load the first drawn fault comes, at least.
	firstAt = 12
	// shortest and longest a drawn fault holds, unless it is said otherwise.
	shortest = 1
	longest  = 10
	// beforeCutEnds is how many seconds before the end of a partition the fault in it comes, at least.
	beforeCutEnds = 2
	// mostAfter is the highest -during-after: runs stay short.
	mostAfter = 60
	// mostHold is the highest -longest.
	mostHold = 600
	// mostFaults of an experiment.
	mostFaults = 16
)

var (
	drawable = []v1alpha1.FaultAction{v1alpha1.ActionKill, v1alpha1.ActionKillServer, v1alpha1.ActionPause, v1alpha1.ActionPartition}
	cuts     = []v1alpha1.PartitionFrom{v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone}
	// sides that a drawn Partition may cut its node off from. One from its zone takes others along, which were not drawn.
	sides = []v1alpha1.PartitionFrom{v1alpha1.PartitionPeers, v1alpha1.PartitionClients, v1alpha1.PartitionEveryone, v1alpha1.PartitionStore}
)

func (d draw) any() bool { return len(d.Actions) > 0 }

func (d draw) String() string {
	text := "the experiment's own faults"
	if d.any() {
		text = fmt.Sprintf("%d drawn fault(s) a run, %s on %v node(s) at once", d.Faults, listed(d.Actions, ", "), d.Members)
	}
	if len(d.From) > 0 {
		text += ", partitions from " + listed(d.From, ", ")
	}
	if d.Shortest > 0 || d.Longest > 0 {
		least, most := d.holds()
		text += fmt.Sprintf(", held for %d to %d s", least, most)
	}
	if d.During {
		text += fmt.Sprintf(" during partitions, %d s after their beginning at least", d.After)
	}
	if d.Fit {
		text += fmt.Sprintf(", a load fitted to them with %d s of rest", d.Rest)
	}
	return fmt.Sprintf("%s, -seed %d", text, d.Seed)
}

func listed[T ~string](words []T, between string) string {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return strings.Join(names, between)
}

// holds are for how many seconds a drawn fault holds, at least and at most.
func (d draw) holds() (least, most int64) {
	return cmp.Or(d.Shortest, shortest), cmp.Or(d.Longest, longest)
}

// set reads the flags.
func (d *draw) set(actions, members, from string) error {
	if d.Rest < 1 {
		return fmt.Errorf("-rest %d: use at least 1", d.Rest)
	}
	switch {
	case !d.During:
		d.After = 0
	case actions == "":
		return errors.New("-during-partitions needs -faults: say what comes during them, such as Kill")
	case d.After < 1 || d.After > mostAfter:
		return fmt.Errorf("-during-after %d: use 1 to %d", d.After, mostAfter)
	}
	if actions == "" {
		if from != "" || d.Shortest != 0 || d.Longest != 0 {
			return errors.New("-partition-from, -shortest and -longest need -faults: they say how those are drawn")
		}
		d.Faults = 0
		return nil
	}
	for text := range strings.SplitSeq(actions, ",") {
		action := v1alpha1.FaultAction(text)
		if !slices.Contains(drawable, action) {
			return fmt.Errorf("-faults %s: use any of %s", action, listed(drawable, ","))
		}
		d.Actions = append(d.Actions, action)
	}
	if err := d.setMembers(members); err != nil {
		return err
	}
	if from != "" {
		if err := d.setFrom(from); err != nil {
			return err
		}
	}
	return d.possible()
}

func (d *draw) setMembers(members string) error {
	for text := range strings.SplitSeq(members, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-members %s: use numbers of nodes, such as 1,2", text)
		}
		d.Members = append(d.Members, n)
	}
	return nil
}

func (d *draw) setFrom(from string) error {
	if !slices.Contains(d.Actions, v1alpha1.ActionPartition) {
		return errors.New("-partition-from needs Partition among -faults: it says what those cut")
	}
	for text := range strings.SplitSeq(from, ",") {
		side := v1alpha1.PartitionFrom(text)
		if !slices.Contains(sides, side) {
			return fmt.Errorf("-partition-from %s: use any of %s", side, listed(sides, ","))
		}
		d.From = append(d.From, side)
	}
	return nil
}

// possible says why so much cannot be drawn.
func (d *draw) possible() error {
	if d.Faults < 1 {
		return fmt.Errorf("-draws %d: use at least 1", d.Faults)
	}
	if least, most := d.holds(); least < 1 || most < least || most > mostHold {
		return fmt.Errorf("-shortest %d and -longest %d: use 1 to %d, and no longer a shortest than a longest", least, most, mostHold)
	}
	each := slices.Max(d.Members)
	if d.During {
		if slices.Contains(d.Actions, v1alpha1.ActionPartition) {
			return errors.New("-during-partitions draws the partitions itself: leave Partition out of -faults")
		}
		each *= 2
	}
	if d.Faults*each > mostFaults {
		return fmt.Errorf("-draws %d would hit up to %d nodes, and an experiment has at most %d faults: draw fewer", d.Faults, d.Faults*each, mostFaults)
	}
	return nil
}

// into replaces the faults of an experiment by those that are drawn for this run: the same number, drawn again, draws the same. Then it
// fits the load to the faults.
func (d draw) into(x *unstructured.Unstructured, number int) error {
	x.Object = normal(x)
	if d.any() {
		nodes, _, err := unstructured.NestedInt64(x.Object, "spec", "topology", "nodes")
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedSlice(x.Object, d.drawn(number, max(1, int(nodes))), "spec", "faults"); err != nil {
			return err
		}
	}
	return d.fit(x)
}

// drawn are the faults of a run.
func (d draw) drawn(number, nodes int) []any {
	random := rand.New(rand.NewPCG(uint64(d.Seed), uint64(number)))
	some := func() []int { return random.Perm(nodes)[:min(d.Members[random.IntN(len(d.Members))], nodes)] }
	var faults []any
	at := int64(firstAt)
	for i := range d.Faults {
		at += int64(random.IntN(4))
		cutEnds := int64(0)
		if d.During {
			moment := d.After + random.Int64N(longest+1)
			hold := moment + beforeCutEnds + random.Int64N(longest/2+1)
			from := cuts[random.IntN(len(cuts))]
			faults = append(faults, faultsOf(fmt.Sprintf("cut-%d", i+1), at, hold, v1alpha1.ActionPartition, from, some())...)
			cutEnds = at + hold
			at += moment
		}
		least, most := d.holds()
		hold := least + int64(random.IntN(int(most-least+1)))
		action := d.Actions[random.IntN(len(d.Actions))]
		if action == v1alpha1.ActionKillServer {
			hold = 0 // its manager starts the server again
		}
		from := v1alpha1.PartitionEveryone
		if action == v1alpha1.ActionPartition && len(d.From) > 0 {
			from = d.From[random.IntN(len(d.From))]
		}
		faults = append(faults, faultsOf(fmt.Sprintf("draw-%d", i+1), at, hold, action, from, some())...)
		at = max(at+hold, cutEnds) + d.Rest
	}
	return faults
}

func faultsOf(name string, at, hold int64, action v1alpha1.FaultAction, from v1alpha1.PartitionFrom, nodes []int) []any {
	var all []any
	for i, node := range nodes {
		f := map[string]any{
			"name": fmt.Sprintf("%s-%d", name, i+1), "atSeconds": at, "target": "Node", "node": int64(node), "action": string(action), "holdSeconds": hold,
		}
		if action == v1alpha1.ActionPartition {
			f["partitionFrom"] = string(from)
		}
		all = append(all, f)
	}
	return all
}
