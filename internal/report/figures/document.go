// Package figures reads single figures off a results document, by their paths in it, with what is known of each: whether it is a bound, and
// why it is absent. Everything that is shown of a run is read through it, so that each shows the same. It computes no figure of its own,
// and is pure.
package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	report "replab.dev/internal/results"
	"replab.dev/internal/topology/registry"
)

// Document is a results document whose figures are asked for by their paths.
type Document struct {
	report.Results
	tree map[string]any
}

// Of returns the document of results.
func Of(r report.Results) (*Document, error) {
	slim := r
	if r.Recorder != nil { // what there is for each second is no single figure
		w := *r.Recorder
		w.Timeline, w.Acknowledgements = nil, nil
		slim.Recorder = &w
	}
	text, err := json.Marshal(slim)
	if err != nil {
		return nil, fmt.Errorf("results of experiment %s: %w", r.Experiment, err)
	}
	d := &Document{Results: r}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&d.tree); err != nil {
		return nil, fmt.Errorf("results of experiment %s: %w", r.Experiment, err)
	}
	return d, nil
}

// Topology in words, with the engine and the version of its servers.
func (d *Document) Topology() string {
	text := string(d.Spec.Topology.Type)
	if engine := registry.Engine(d.Spec.Topology); engine != "" {
		text += " of " + string(engine)
	}
	if v := d.Status.Versions; v != nil && v.Server != "" { // some packages' versions are in brackets of their own
		text += " " + strings.NewReplacer("((", "(", "))", ")").Replace(v.Server)
	}
	return text
}

// at returns what stands at a path, nil where there is nothing. An item of a list is named in brackets by its name, metric or node, or by its
// place in the list: status.load.stages[steady].requests.
func (d *Document) at(path string) any {
	var here any = d.tree
	for _, segment := range segments(path) {
		switch object := here.(type) {
		case map[string]any:
			here = object[segment]
		case []any:
			here = item(object, segment)
		default:
			return nil
		}
	}
	return here
}

// segments of a path: a.b[c].d is a, b, c and d. What is in brackets may have dots in it.
func segments(path string) []string {
	var all []string
	for path != "" {
		end := strings.IndexAny(path, ".[")
		if path[0] == '[' {
			end = strings.IndexByte(path, ']')
			all, path = append(all, path[1:end]), path[end+1:]
			path = strings.TrimPrefix(path, ".")
			continue
		}
		if end < 0 {
			return append(all, path)
		}
		all = append(all, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return all
}

func item(list []any, name string) any {
	for _, key := range []string{"name", "metric", "node"} {
		i := slices.IndexFunc(list, func(v any) bool {
			object, ok := v.(map[string]any)
			return ok && object[key] == name
		})
		if i >= 0 {
			return list[i]
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}

func number(v any) *int64 {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	i, err := n.Int64()
	if err != nil {
		return nil
	}
	return &i
}
