package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = "# Who, *what*: `Kill`?\n\n" +
	"## Again\n\n## Again\n\nSee [here](a.md#b \"title\") and ![picture](img/a.png), `make demo`.\n\n" +
	"```yaml first.yaml\nkind: A\n```\n\n```console\n$ make demo\nit says so\n$ make test\n```\n\n    make help\n\n" +
	"| field | what |\n|---|---|\n| `a` | *the* first |\n"

func TestParseReadsWhatPeopleRead(t *testing.T) {
	got := Parse("docs/a.md", []byte(sample))
	want := Page{
		Path: "docs/a.md", Anchors: []string{"who-what-kill", "again", "again-1"}, Links: []string{"a.md#b", "img/a.png"},
		Blocks: []Block{
			{Language: "yaml", File: "first.yaml", Text: "kind: A\n"},
			{Language: "console", Text: "$ make demo\nit says so\n$ make test\n"},
			{Text: "make help\n"},
		},
		Spans: []string{"Kill", "make demo", "a"}, Rows: [][]string{{"a", "the first"}},
		Texts: []Text{
			{Page: "docs/a.md", Line: 7, Text: "See here and picture, make demo."},
			{Page: "docs/a.md", Line: 23, Cell: true, Text: "a"},
			{Page: "docs/a.md", Line: 23, Cell: true, Text: "the first"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page differs (-want +got):\n%s", diff)
	}
	if commands := got.Blocks[1].Commands(); commands != "make demo\nmake test\n" {
		t.Errorf("the console's commands are %q", commands)
	}
}

func TestChangesAreMergedIntoTheExperimentBefore(t *testing.T) {
	page := Parse("docs/a.md", []byte("```yaml\nkind: ReplicationExperiment\nmetadata: {name: a}\nspec:\n  topology: {type: Async, nodes: 3}\n  faults: [{name: a}]\n```\n"+
		"```yaml\nspec:\n  topology: {nodes: 4}\n  faults: null\n```\n```yaml\nrbac: {aggregate: false}\n```\n"))
	got, err := page.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Objects) != 2 || len(got.Values) != 1 {
		t.Fatalf("%d objects and %d values", len(got.Objects), len(got.Values))
	}
	want := map[string]any{"topology": map[string]any{"type": "Async", "nodes": float64(4)}}
	if diff := cmp.Diff(want, got.Objects[1].Object["spec"]); diff != "" {
		t.Errorf("the changed spec differs (-want +got):\n%s", diff)
	}
	if got.Objects[0].Object["spec"].(map[string]any)["faults"] == nil {
		t.Error("the change reached the experiment before it")
	}
}
