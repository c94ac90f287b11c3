package plugin

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOneUndecodableExperimentIsNamedAndSkipped(t *testing.T) {
	item := func(name string, suspend any) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "n", "name": name}, "spec": map[string]any{"suspend": suspend},
		}}
	}
	var warned strings.Builder
	found := decoded([]unstructured.Unstructured{item("a", true), item("b", "often"), item("c", false)}, &warned)
	if len(found) != 2 || found[0].Name != "a" || found[1].Name != "c" || !found[0].Spec.Suspend {
		t.Errorf("found %+v", found)
	}
	if text := warned.String(); !strings.HasPrefix(text, "Experiment n/b cannot be decoded: spec.suspend: ") || strings.Count(text, "\n") != 1 {
		t.Errorf("warned %q", text)
	}
}
