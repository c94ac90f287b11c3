package docs_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// units that names end with, and how the page writes them. A longer ending goes before one that it ends with.
var units = []struct{ ending, unit string }{
	{"Milliseconds", "ms"},
	{"Microseconds", "µs"},
	{"Bytes", "bytes"},
	{"Percent", "percent"},
	{"MilliRequestsPerSecond", "1/s, in thousandths"},
	{"PerSecondMilli", "1/s, in thousandths"},
	{"RequestsPerSecond", "1/s"},
	{"requestsPerSecond", "1/s"},
	{"Permille", "thousandths"},
	{"Thousandths", "thousandths"},
	{"Millicores", "thousandths of a core"},
}

// TestReadingTellsOfEveryFigure of the status, with the unit that its name has, and of no other.
func TestReadingTellsOfEveryFigure(t *testing.T) {
	page := docs.Read(t, "docs/reference/figures.md")
	told := map[string]bool{}
	for _, row := range page.Rows {
		for _, path := range alternatives(row[0]) {
			if told[path] {
				t.Errorf("docs/reference/figures.md tells of %s twice", path)
			}
			told[path] = true
			if want := unitOf(path); want != "" && row[2] != want {
				t.Errorf("docs/reference/figures.md: the unit of %s is %s, not %s", path, want, row[2])
			}
		}
	}
	for _, path := range page.Spans { // no figures, and said to be none
		if strings.HasSuffix(path, "observedGeneration") {
			told[path] = true
		}
	}
	figures := figuresOfTheStatus(t)
	for _, path := range slices.Sorted(maps.Keys(figures)) {
		if !told[path] {
			t.Errorf("docs/reference/figures.md does not tell of %s", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(told)) {
		if !figures[path] {
			t.Errorf("docs/reference/figures.md tells of %s, which the status has not", path)
		}
	}
}

func unitOf(path string) string {
	for _, u := range units {
		if strings.HasSuffix(path, u.ending) {
			return u.unit
		}
	}
	return ""
}

// figuresOfTheStatus are the paths of its integers.
func figuresOfTheStatus(t *testing.T) map[string]bool {
	t.Helper()
	status := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	figures := map[string]bool{}
	experiment.Walk("", &status, func(path string, field *apiextensionsv1.JSONSchemaProps) {
		if field.Type == "integer" {
			figures[path] = true
		}
	})
	return figures
}
