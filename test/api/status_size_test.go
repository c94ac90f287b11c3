package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/kubetest"
)

// TestTheLargestStatusFits into what the API server keeps: 16 stages, the faults of ten nodes, and every figure of all of them.
func TestTheLargestStatusFits(t *testing.T) {
	schema := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	x := minimalWith(t, `{metadata: {name: largest}}`)
	c := kubetest.Client(t)
	if err := c.Create(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(t.Context(), x) }) //nolint:usetesting // its context is over by then
	before := x.DeepCopy()
	status := largest(t, "status", &schema, 0)
	x.Object["status"] = status
	text, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a status of %d KiB", len(text)>>10)
	if err := c.Status().Patch(t.Context(), x, client.MergeFrom(before)); err != nil {
		t.Fatalf("a status of %d bytes: %v", len(text), err)
	}
	var kept unstructured.Unstructured
	kept.SetGroupVersionKind(x.GroupVersionKind())
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(x), &kept); err != nil {
		t.Fatal(err)
	}
	if stages, _, _ := unstructured.NestedSlice(kept.Object, "status", "load", "stages"); len(stages) != 16 {
		t.Errorf("%d stages were kept", len(stages))
	}
}

// largest value of a field; no two of different turns are alike.
func largest(t *testing.T, path string, field *apiextensionsv1.JSONSchemaProps, turn int64) any {
	t.Helper()
	switch field.Type {
	case "object":
		object := map[string]any{}
		for name := range field.Properties {
			below := field.Properties[name]
			object[name] = largest(t, path+"."+name, &below, turn)
		}
		return object
	case "array":
		count := *field.MaxItems
		if of := field.Items.Schema; len(of.Enum) > 0 {
			count = min(count, int64(len(of.Enum)))
		} else if len(field.XListMapKeys) == 1 && len(of.Properties[field.XListMapKeys[0]].Enum) > 0 {
			count = min(count, int64(len(of.Properties[field.XListMapKeys[0]].Enum)))
		}
		var list []any
		for i := range count {
			list = append(list, largest(t, path+"[]", field.Items.Schema, i))
		}
		return list
	case "integer":
		n := int64(1e12) + turn
		if field.Maximum != nil {
			n = min(n, int64(*field.Maximum))
		}
		return n
	case "boolean":
		return false
	case "string":
		return longest(t, path, field, turn)
	}
	t.Fatalf("%s is of the type %q", path, field.Type)
	return nil
}

// sentences are for people; other strings are names.
var sentences = []string{"reasons[]", "message", "why", "note", "failure", "leak", "evidence"}

func longest(t *testing.T, path string, field *apiextensionsv1.JSONSchemaProps, turn int64) string {
	t.Helper()
	if len(field.Enum) > 0 {
		var word string
		if err := json.Unmarshal(field.Enum[turn%int64(len(field.Enum))].Raw, &word); err != nil {
			t.Fatal(err)
		}
		return word
	}
	if field.Format == "date-time" {
		return "2026-01-01T12:00:00.123456Z"
	}
	length := 60
	if slices.ContainsFunc(sentences, func(s string) bool { return strings.HasSuffix(path, s) }) {
		length = 250
	}
	if field.MaxLength != nil {
		length = min(length, int(*field.MaxLength))
	}
	suffix := fmt.Sprintf("_%d", turn)
	return "a" + strings.Repeat("b", max(length-len(suffix)-1, 0)) + suffix
}
