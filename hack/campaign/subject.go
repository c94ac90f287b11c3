package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	rule "replab.dev/internal/compare"
	"replab.dev/internal/runs"
)

// label of the runs of a campaign: a run of another one is never counted.
const label = "replab.dev/campaign"

// subject is what a campaign applies.
type subject struct {
	experiment *unstructured.Unstructured
	// beside is the experiment that each run is compared with, nil where there is none. Both have its load, data set, app, probes and faults.
	beside *unstructured.Unstructured
}

// task is one run of a campaign.
type task struct {
	Number int  `json:"number"`           // from 1; of a pair both have the same
	Beside bool `json:"beside,omitempty"` // it is the partner's
}

// compared are the fields that the two of a pair have in common.
var compared = append(slices.Clone(rule.Same), "pods")

func readSubject(o options) (subject, error) {
	x, err := runs.Read(o.file, o.namespace)
	if err != nil || o.beside == "" {
		return subject{experiment: x}, err
	}
	other, err := runs.Read(o.beside, o.namespace)
	if err != nil {
		return subject{}, err
	}
	spec, ok := x.Object["spec"].(map[string]any)
	reference, also := other.Object["spec"].(map[string]any)
	if !ok || !also {
		return subject{}, errors.New("both experiments need a spec")
	}
	for _, field := range compared {
		delete(spec, field)
		if v, ok := reference[field]; ok {
			spec[field] = v
		}
	}
	for _, s := range []map[string]any{spec, reference} { // what a run costs is asked, not whether it is good enough
		delete(s, "goals")
		delete(s, "baseline")
	}
	return subject{experiment: x, beside: other}, nil
}

// name of the campaign.
func (s subject) name() string {
	if s.beside == nil {
		return s.experiment.GetName()
	}
	return s.experiment.GetName() + "-beside-" + s.beside.GetName()
}

// hash tells two subjects from each other, whatever they are called.
func (s subject) hash() string {
	specs := []any{s.experiment.Object["spec"]}
	if s.beside != nil {
		specs = append(specs, s.beside.Object["spec"])
	}
	text, err := json.Marshal(specs) // the keys of a map are sorted
	if err != nil {
		panic(err) // they were read from YAML
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// tasks in their order. The two of a pair come in random order, so that what drifts meanwhile favours neither.
func (s subject) tasks(o options) []task {
	var all []task
	for number := 1; number <= o.count; number++ {
		pair := []task{{Number: number}}
		if s.beside != nil {
			pair = append(pair, task{Number: number, Beside: true})
		}
		if len(pair) == 2 && rand.New(rand.NewPCG(uint64(o.draw.Seed), uint64(number))).IntN(2) == 1 {
			slices.Reverse(pair)
		}
		all = append(all, pair...)
	}
	return all
}

// object is the experiment of one run. Everything stays until it was looked at.
func (s subject) object(t task, d draw, id string) (*unstructured.Unstructured, error) {
	of := s.experiment
	if t.Beside {
		of = s.beside
	}
	x := of.DeepCopy()
	name := named(of.GetName(), id, t)
	x.SetName(name)
	labels := x.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[label] = id
	x.SetLabels(labels)
	if err := d.into(x, t.Number); err != nil {
		return nil, err
	}
	return x, unstructured.SetNestedField(x.Object, string(v1alpha1.KeepAlways), "spec", "keep")
}

// maxName is how long the name of an experiment may be.
const maxName = 40

// named is the name of a run: none is in the way of another that is kept, nor of another campaign's.
func named(name, id string, t task) string {
	suffix := fmt.Sprintf("-%s-%d", id, t.Number)
	if t.Beside { // an experiment may be compared with itself
		suffix += "b"
	}
	return strings.TrimRight(name[:min(len(name), maxName-len(suffix))], "-") + suffix
}
