package figure_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	crd "replab.dev/config/crd"
	"replab.dev/internal/figure"
)

func TestEntriesLeadToFields(t *testing.T) {
	names, paths := map[string]bool{}, map[string]bool{}
	for _, e := range figure.All() {
		if names[e.Name] || paths[e.Path] {
			t.Errorf("%s is listed twice", e.Name)
		}
		names[e.Name], paths[e.Path] = true, true
		for _, path := range append([]string{e.Path}, stagePath(e)...) {
			if !figure.IsField(reflect.TypeFor[v1alpha1.ReplicationExperimentStatus](), path) {
				t.Errorf("%s: the status has no number %s", e.Name, path)
			}
		}
		if e.PartOf != "" && !figure.IsField(reflect.TypeFor[v1alpha1.ReplicationExperimentStatus](), e.PartOf) {
			t.Errorf("%s: the status has no number %s", e.Name, e.PartOf)
		}
		if e.Goal && strings.Contains(e.Path, "[]") {
			t.Errorf("%s: a goal limits one figure of the run, and %s is of many", e.Name, e.Path)
		}
	}
}

func stagePath(e figure.Entry) []string {
	if !e.InStages {
		return nil
	}
	return []string{e.OfStage("steady")}
}

func TestGaugesAreOfOneShape(t *testing.T) {
	labels := map[string]string{}
	for _, e := range figure.All() {
		g := e.Gauge
		if was, seen := labels[g.Name]; g.Name != "" && seen && was != g.Label {
			t.Errorf("%s has the labels %q and %q", g.Name, was, g.Label)
		}
		labels[g.Name] = g.Label
	}
}

// TestPrinterColumnsAreThoseOfTheCatalogue, by title and source: markers are texts, which nothing else compares.
func TestPrinterColumnsAreThoseOfTheCatalogue(t *testing.T) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.File, &definition); err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{}
	for _, c := range definition.Spec.Versions[0].AdditionalPrinterColumns {
		if name, ok := strings.CutPrefix(c.JSONPath, ".status.columns."); ok {
			got[name] = strings.ToUpper(c.Name)
		} else if strings.Contains(c.JSONPath, "status.") && c.Type != "string" {
			t.Errorf("column %s is a figure of %s, without its bounds", c.Name, c.JSONPath)
		}
	}
	for _, e := range figure.All() {
		if e.Column != "" {
			want[e.Name] = e.Column
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the CRD has the columns %v, the catalogue %v", got, want)
	}
}
