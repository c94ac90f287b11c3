package charts_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

// TestReadmesTellTheDefaults reads each chart's table of values: a row for each value, with the default that values.yaml has, in YAML between
// backticks. A row may name several values, which then share the default, and one that is above others, with all of them.
func TestReadmesTellTheDefaults(t *testing.T) {
	for _, chart := range []string{"replab", "replab-stack"} {
		folder := filepath.Join(kubetest.Root(), "charts", chart)
		var values map[string]any
		if err := yaml.Unmarshal(read(t, folder, "values.yaml"), &values); err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, row := range tableOfValues(t, string(read(t, folder, "README.md"))) {
			for _, path := range row.paths {
				if told[path] {
					t.Errorf("charts/%s/README.md has %s twice", chart, path)
				}
				told[path] = true
				value, found := lookUp(values, strings.Split(path, "."))
				if !found {
					t.Errorf("charts/%s/README.md has %s, values.yaml does not", chart, path)
					continue
				}
				if diff := cmp.Diff(value, row.value); diff != "" {
					t.Errorf("default of %s (-charts/%s/values.yaml +README.md):\n%s", path, chart, diff)
				}
			}
		}
		for _, path := range valuePaths("", values) {
			if !coveredBy(told, path) {
				t.Errorf("charts/%s/README.md has no row for %s", chart, path)
			}
		}
	}
}

// documented is a row of a table of values.
type documented struct {
	paths []string
	value any
}

var quoted = regexp.MustCompile("`([^`]*)`")

// tableOfValues finds the rows of the table whose head is "value, default, meaning".
func tableOfValues(t *testing.T, readme string) (rows []documented) {
	t.Helper()
	_, table, found := strings.Cut(readme, "| value | default | meaning |\n|---|---|---|\n")
	if !found {
		t.Fatal("README.md has no table of values")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "|"), "|", 3)
		if len(cells) != 3 {
			t.Fatalf("row %q has %d cells, want 3", line, len(cells))
		}
		row := documented{value: ""} // an empty cell is an empty text
		for _, name := range quoted.FindAllStringSubmatch(cells[0], -1) {
			row.paths = append(row.paths, name[1])
		}
		if text := strings.TrimSpace(cells[1]); text != "" {
			row.value = nil
			if err := yaml.Unmarshal([]byte(strings.Trim(text, "`")), &row.value); err != nil {
				t.Errorf("default of %v: %v", row.paths, err)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func lookUp(values map[string]any, path []string) (any, bool) {
	value, found := values[path[0]]
	if len(path) == 1 || !found {
		return value, found
	}
	below, _ := value.(map[string]any)
	return lookUp(below, path[1:])
}

// coveredBy tells whether a value, or one above it, is among those.
func coveredBy(told map[string]bool, path string) bool {
	for path != "" {
		if told[path] {
			return true
		}
		at := strings.LastIndex(path, ".")
		path = path[:max(at, 0)]
	}
	return false
}

// kubernetesOwn are fields of kinds of Kubernetes', whose keys the schema does not say once more, and what charts share.
var kubernetesOwn = regexp.MustCompile(`^(global|(pods\.\w+\.)?(affinity|securityContext|tolerations\[\]|topologySpreadConstraints\[\]|resources\.claims\[\])|` +
	`networkPolicy\.ingress\.metricsFrom\[\]\.(podSelector|namespaceSelector|ipBlock))$`)

// TestSchemaAllowsNoKeyThatNobodyReads: a misspelt key would be taken, and do nothing, or keep the operator from starting.
func TestSchemaAllowsNoKeyThatNobodyReads(t *testing.T) {
	walkSchema(schemaOfValues(t), func(path string, s map[string]any) {
		_, says := s["additionalProperties"]
		_, hasItems := s["items"]
		switch {
		case s["type"] == "object" && !says && !kubernetesOwn.MatchString(path), s["properties"] != nil && s["additionalProperties"] != false:
			t.Errorf("values.schema.json lets any key into %q", path)
		case s["type"] == "array" && !hasItems:
			t.Errorf("values.schema.json lets anything into the list %q", path)
		}
	})
}

// TestSchemaHasTheSettingsOfPodsThatTheOperatorReads: it decodes them into these types, and refuses a key that they have not.
func TestSchemaHasTheSettingsOfPodsThatTheOperatorReads(t *testing.T) {
	got := map[string][]string{}
	walkSchema(schemaOfValues(t), func(path string, s map[string]any) {
		properties, _ := s["properties"].(map[string]any)
		got[path] = slices.Sorted(maps.Keys(properties))
	})
	want := map[string][]string{"pods": jsonNames[v1alpha1.PodsSpec]()}
	for _, group := range want["pods"] {
		want["pods."+group] = jsonNames[v1alpha1.PodSettings]()
	}
	for path, names := range want {
		if diff := cmp.Diff(names, got[path]); diff != "" {
			t.Errorf("keys of %s (-operator +values.schema.json):\n%s", path, diff)
		}
	}
}

// jsonNames of a struct's fields, in order.
func jsonNames[T any]() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func schemaOfValues(t *testing.T) map[string]any {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(read(t, filepath.Join(kubetest.Root(), "charts", "replab"), "values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// walkSchema visits what the schema says of each value, and follows its references.
func walkSchema(schema map[string]any, visit func(string, map[string]any)) {
	definitions, _ := schema["definitions"].(map[string]any)
	var walk func(string, any)
	walk = func(path string, value any) {
		s, _ := value.(map[string]any)
		if ref, ok := s["$ref"].(string); ok {
			s, _ = definitions[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		}
		visit(path, s)
		properties, _ := s["properties"].(map[string]any)
		for name, below := range properties {
			walk(strings.TrimPrefix(path+"."+name, "."), below)
		}
		if items, ok := s["items"]; ok {
			walk(path+"[]", items)
		}
	}
	walk("", schema)
}
