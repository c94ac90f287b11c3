package api_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// place is where a path leads to in an object.
type place struct {
	where  string // as a refusal names it: items by number
	put    func(value any)
	remove func()
}

// locate follows a path; [] is the first item that has what follows.
func locate(fields map[string]any, path string) (place, bool) {
	name, rest, below := strings.Cut(path, ".")
	name, isList := strings.CutSuffix(name, "[]")
	value, found := fields[name]
	switch {
	case !found:
		return place{}, false
	case isList:
		return locateItem(name, value, rest)
	case !below:
		return place{name, func(v any) { fields[name] = v }, func() { delete(fields, name) }}, true
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return place{}, false
	}
	p, found := locate(object, rest)
	p.where = name + "." + p.where
	return p, found
}

func locateItem(name string, value any, rest string) (place, bool) {
	items, _ := value.([]any)
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", name, i)
		if rest == "" {
			return place{where: at, put: func(v any) { items[i] = v }}, true
		}
		object, _ := item.(map[string]any)
		if p, found := locate(object, rest); found {
			p.where = at + "." + p.where
			return p, true
		}
	}
	return place{}, false
}

// list has n items of inBounds.
func list(t *testing.T, path string, n int64) []any {
	t.Helper()
	items := []any{}
	for i := range n {
		var item any
		if err := yaml.Unmarshal([]byte(example(t, path, i)), &item); err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// entries has n entries of inBounds.
func entries(t *testing.T, path string, n int64) map[string]any {
	t.Helper()
	object := map[string]any{}
	for i := range n {
		object[example(t, path, i)] = "1"
	}
	return object
}

// example is the i-th value of inBounds.
func example(t *testing.T, path string, i int64) string {
	t.Helper()
	texts, ok := inBounds[path]
	if !ok {
		t.Fatalf("inBounds has nothing for %s: add it", path)
	}
	if len(texts) > 1 {
		return texts[int(i)%len(texts)]
	}
	return strings.ReplaceAll(texts[0], "%d", fmt.Sprint(i))
}
