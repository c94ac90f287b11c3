package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// draw says which faults each run gets by chance.
type draw struct {
	Actions []string `json:"actions,omitempty"` // of which each fault has one; none: the experiment's own faults stay
	Members []int    `json:"members,omitempty"` // how many nodes a fault hits at the same moment, one of these
	Faults  int      `json:"faults,omitempty"`  // in a run, one after the other
	Seed    int64    `json:"seed,omitempty"`
}

const (
	// firstAt is how long after the start of the load the first drawn fault comes, at least.
	firstAt = 12
	// apart is how long after the end of a drawn fault the next one comes, and how long the load goes on after the last.
	apart = 15
	// longest a drawn fault holds.
	longest = 10
)

var drawable = []string{"Kill", "Pause", "Partition"}

func (d draw) any() bool { return len(d.Actions) > 0 }

func (d draw) String() string {
	return fmt.Sprintf("%s on %v node(s) at once, %d in a run", strings.Join(d.Actions, ", "), d.Members, d.Faults)
}

// set reads the flags.
func (d *draw) set(actions, members string) error {
	if actions == "" {
		d.Seed, d.Faults = 0, 0
		return nil
	}
	for action := range strings.SplitSeq(actions, ",") {
		if !slices.Contains(drawable, action) {
			return fmt.Errorf("-faults %s: use any of %s", action, strings.Join(drawable, ","))
		}
		d.Actions = append(d.Actions, action)
	}
	for text := range strings.SplitSeq(members, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-members %s: use numbers of nodes, such as 1,2", text)
		}
		d.Members = append(d.Members, n)
	}
	if d.Faults < 1 {
		return fmt.Errorf("-draws %d: use at least 1", d.Faults)
	}
	return nil
}

// into gives a run its faults. Those of a run depend on the seed and on the number of the run alone, so that a campaign that goes on,
// and one run that is made again, draws the same.
func (d draw) into(x *unstructured.Unstructured, number int) error {
	if !d.any() {
		return nil
	}
	nodes, seconds, err := sizes(x)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(d.Seed), uint64(number)))
	var faults []any
	at := int64(firstAt)
	for i := range d.Faults {
		at += int64(random.IntN(4))
		hold := int64(1 + random.IntN(longest))
		action := d.Actions[random.IntN(len(d.Actions))]
		hit := random.Perm(int(nodes))[:min(d.Members[random.IntN(len(d.Members))], int(nodes))]
		for j, node := range hit {
			f := map[string]any{
				"name": fmt.Sprintf("draw-%d-%d", i+1, j+1), "atSeconds": at, "target": "Node", "node": int64(node), "action": action, "holdSeconds": hold,
			}
			if action == "Partition" {
				f["partitionFrom"] = "Everyone"
			}
			faults = append(faults, f)
		}
		at += hold + apart
	}
	if at > seconds {
		return fmt.Errorf("the load lasts %d s, and the faults that are drawn take %d: make a stage longer, or draw fewer", seconds, at)
	}
	return unstructured.SetNestedSlice(x.Object, faults, "spec", "faults")
}

// sizes are the number of nodes of an experiment and how long its load lasts.
func sizes(x *unstructured.Unstructured) (nodes, seconds int64, err error) {
	replicas, _, err := unstructured.NestedInt64(normal(x), "spec", "topology", "replicas")
	if err != nil {
		return 0, 0, err
	}
	stages, _, err := unstructured.NestedSlice(normal(x), "spec", "load", "stages")
	if err != nil {
		return 0, 0, err
	}
	for _, s := range stages {
		stage, _ := s.(map[string]any)
		n, _, err := unstructured.NestedInt64(stage, "durationSeconds")
		if err != nil {
			return 0, 0, err
		}
		seconds += n
	}
	return replicas + 1, seconds, nil
}

// normal has the numbers of a YAML file as integers, which is how they are read from the API server.
func normal(x *unstructured.Unstructured) map[string]any {
	return integers(x.Object).(map[string]any)
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, item := range v {
			m[k] = integers(item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = integers(item)
		}
		return list
	case float64:
		return int64(v)
	}
	return v
}
