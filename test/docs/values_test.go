package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

// TestValuesOfTheChartExist that pages tell people to set.
func TestValuesOfTheChartExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(experiment.Root(), "charts", "replab", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, page := range docs.Pages(t) {
		found, err := page.YAML()
		if err != nil {
			t.Error(err)
		}
		for _, values := range found.Values {
			for _, path := range missing("", values, all) {
				t.Errorf("%s: the chart has no value %s", page.Path, path)
			}
		}
	}
}

// missing are the paths of values that there is no default for. An empty default takes whatever is put into it.
func missing(above string, values, defaults map[string]any) []string {
	var paths []string
	for name, value := range values {
		standard, known := defaults[name]
		below, isObject := value.(map[string]any)
		inside, hasObject := standard.(map[string]any)
		switch {
		case !known && len(defaults) > 0:
			paths = append(paths, above+name)
		case isObject && hasObject:
			paths = append(paths, missing(above+name+".", below, inside)...)
		}
	}
	return paths
}
