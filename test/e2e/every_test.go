package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"replab.dev/test/experiment"
)

// notCarriedOut are the experiments that no test of this folder carries out, and why none does.
var notCarriedOut = map[string]string{
	"mariadb-single":    "for the time it takes: single has its topology, and mariadb-async its engine",
	"seeds/001-1eu":     "for the time it takes: seeds/001-plain has its load, and galera its members, of which it has one",
	"seeds/001-2eu-1us": "for the time it takes: seeds/001-1eu-1us has its load and its link, and galera as many members",
}

// TestEveryExperimentIsCarriedOut, or it is said why not: what people apply is what was tried. It needs no cluster.
func TestEveryExperimentIsCarriedOut(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "*", "*.yaml"))
	if err != nil || len(files) == 0 || len(below) == 0 {
		t.Fatalf("%d experiments, and %d in folders: %v", len(files), len(below), err)
	}
	named, left := named(t), map[string]bool{}
	for _, file := range append(files, below...) {
		path, err := filepath.Rel(filepath.Join(experiment.Root(), "experiments"), file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.ToSlash(path), ".yaml")
		left[name] = true
		carriedOut := named[name] || named[strings.TrimPrefix(name, "seeds/")]
		if why := notCarriedOut[name]; carriedOut == (why != "") {
			t.Errorf("experiments/%s.yaml: a test names it: %t, notCarriedOut says %q; want one of them", name, carriedOut, why)
		}
	}
	for name := range notCarriedOut {
		if !left[name] {
			t.Errorf("notCarriedOut has %s, which is no experiment", name)
		}
	}
}

// named are the texts in the tests of this folder, but for those that variants of another load are made of.
func named(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		if file == "every_test.go" {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "variant" {
					return false
				}
			}
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if s, err := strconv.Unquote(text.Value); err == nil {
					found[s] = true
				}
			}
			return true
		})
	}
	return found
}
