package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fit makes the last stage as long as the faults need, where that is asked for; else it says when they do not fit.
func (d draw) fit(x *unstructured.Unstructured) error {
	faults, _, err := unstructured.NestedSlice(x.Object, "spec", "faults")
	if err != nil {
		return err
	}
	stages, _, err := unstructured.NestedSlice(x.Object, "spec", "load", "stages")
	if err != nil || len(stages) == 0 || len(faults) == 0 {
		return err
	}
	var ends, before int64
	for _, f := range faults {
		ends = max(ends, field(f, "atSeconds")+max(field(f, "holdSeconds"), 0))
	}
	for _, s := range stages[:len(stages)-1] {
		before += field(s, "durationSeconds")
	}
	last, _ := stages[len(stages)-1].(map[string]any)
	needs := ends + d.Rest - before
	switch {
	case d.Fit && needs < 1:
		return fmt.Errorf("-fit makes the last stage shorter, and the last fault is over %d s before it begins: leave -fit out", -needs)
	case d.Fit && last != nil:
		last["durationSeconds"] = needs
		return unstructured.SetNestedSlice(x.Object, stages, "spec", "load", "stages")
	case d.any() && needs > field(stages[len(stages)-1], "durationSeconds"):
		return fmt.Errorf("the faults that are drawn need a load of %d s: use -fit, make a stage longer, or draw fewer", ends+d.Rest)
	}
	return nil
}

func field(object any, name string) int64 {
	m, _ := object.(map[string]any)
	n, _ := m[name].(int64)
	return n
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
