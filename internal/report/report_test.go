// Package report_test holds that reports of any kind show each figure of the catalogue.
package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/html"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/results"
)

// items are the names of the items that the lists of the status have here, by the lists' fields.
var items = map[string]string{"resources": "a-db-0", "faults": "crash", "nodes": "db-0", "stages": "open", "roundTrips": "db-0 to db-1", "traffic": "db-0 to db-1", "lagSizes": "1000"}

// TestEveryFigureOfTheCatalogueIsInEveryReport: a new one is an entry and a field of the status, and no table names it.
func TestEveryFigureOfTheCatalogueIsInEveryReport(t *testing.T) {
	status := map[string]any{}
	var paths []string
	for i, e := range figure.All() {
		paths = append(paths, set(status, e.Path, 1001+7*i))
		if e.InStages {
			paths = append(paths, set(status, e.OfStage(""), 9001+7*i))
		}
	}
	r := results.Results{Experiment: "x"}
	text, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r.Status); err != nil {
		t.Fatal(err)
	}
	var page, note, csv strings.Builder
	if err := html.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	if err := markdown.Write(&note, r); err != nil {
		t.Fatal(err)
	}
	if err := figures.WriteCSV(&csv, figures.Of(r)); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f := figures.Of(r).Figure("status." + path)
		if f.Value == nil {
			t.Fatalf("%s: %s", path, f.Because)
		}
		for name, there := range map[string]bool{
			"HTML":     strings.Contains(page.String(), `data-figure="status.`+path+`"`),
			"Markdown": strings.Contains(note.String(), "| "+f.Text()+" |"),
			"CSV":      strings.Contains(csv.String(), ",status."+path+","),
		} {
			if !there {
				t.Errorf("%s does not show %s, %s", name, path, f.Text())
			}
		}
	}
}

// set the field at a path of a status, in the one item of each list, and return the path with the items' names.
func set(status map[string]any, path string, value int) string {
	here, segments, named := status, figure.Segments(path), ""
	for i, field := range segments {
		switch {
		case field == "":
			named += "[" + items[segments[i-1]] + "]"
		case i == len(segments)-1:
			here[field] = value
			named += "." + field
		case segments[i+1] == "":
			if here[field] == nil {
				here[field] = []any{map[string]any{"name": items[field], "from": "db-0", "to": "db-1"}}
			}
			here = here[field].([]any)[0].(map[string]any)
			named += "." + field
		default:
			if here[field] == nil {
				here[field] = map[string]any{}
			}
			here = here[field].(map[string]any)
			named += "." + field
		}
	}
	return strings.TrimPrefix(named, ".")
}
