package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replab.dev/test/experiment"
)

// notCarriedOut are the experiments that no test of this folder carries out, and why none does.
var notCarriedOut = map[string]string{
	"mariadb-single": "for the time it takes: single has its topology, and mariadb-semisync its engine",
}

// onlyWith are the experiments that are carried out only where a variable of the environment names an image, or the full tier: their tests
// skip else.
var onlyWith = map[string]string{
	"galera-mysql":                           "REPLAB_XTRADB_IMAGE",
	"k6-operator":                            "REPLAB_K6_OPERATOR",
	"patroni-zalando":                        "REPLAB_ZALANDO",
	"semisync-proxysql":                      "REPLAB_PROXYSQL_IMAGE",
	"findings/semisync-proxysql-retries":     "REPLAB_PROXYSQL_IMAGE",
	"semisync-degraded":                      "E2E_FULL",
	"delete-pod":                             "E2E_FULL",
	"mariadb-async-loss":                     "E2E_FULL",
	"mariadb-async":                          "E2E_FULL",
	"findings/galera-sync-wait":              "E2E_FULL",
	"findings/galera-volatile":               "E2E_FULL",
	"findings/galera-kill-in-partition":      "E2E_FULL",
	"postgres-single":                        "E2E_FULL",
	"postgres-async":                         "E2E_FULL",
	"patroni-sync":                           "E2E_FULL",
	"patroni-degraded":                       "E2E_FULL",
	"findings/patroni-restart-window":        "E2E_FULL",
	"findings/patroni-strict-restart-window": "E2E_FULL",
	"findings/patroni-strict-alone":          "E2E_FULL",
	"findings/patroni-cancelled-wait":        "E2E_FULL",
	"findings/patroni-both-die":              "E2E_FULL",
	"findings/patroni-store":                 "E2E_FULL",
	"findings/patroni-store-failsafe":        "E2E_FULL",
	"seeds/001":                              "E2E_FULL",
	"seeds/002":                              "E2E_FULL",
	"seeds/003":                              "E2E_FULL",
	"seeds/004":                              "E2E_FULL",
}

// TestEveryExperimentIsCarriedOut checks that each experiment has a test, a stated condition, or a reason for having none. It needs no cluster.
func TestEveryExperimentIsCarriedOut(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob(filepath.Join(experiment.Root(), "experiments", "*", "*.yaml"))
	if err != nil || len(files) == 0 || len(below) == 0 {
		t.Fatalf("%d experiments, and %d in folders: %v", len(files), len(below), err)
	}
	below = slices.DeleteFunc(below, func(file string) bool { return filepath.Base(filepath.Dir(file)) == "suites" })
	named, left := named(t), map[string]bool{}
	for _, file := range append(files, below...) {
		path, err := filepath.Rel(filepath.Join(experiment.Root(), "experiments"), file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.ToSlash(path), ".yaml")
		left[name] = true
		needs, carriedOut := named[name]
		if needs != onlyWith[name] {
			t.Errorf("experiments/%s.yaml: its tests skip without %q, onlyWith says %q", name, needs, onlyWith[name])
		}
		if why := notCarriedOut[name]; carriedOut == (why != "") {
			t.Errorf("experiments/%s.yaml: a test names it: %t, notCarriedOut says %q; want one of them", name, carriedOut, why)
		}
	}
	for list, names := range map[string]map[string]string{"notCarriedOut": notCarriedOut, "onlyWith": onlyWith} {
		for name := range names {
			if !left[name] {
				t.Errorf("%s has %s, which is no experiment", list, name)
			}
		}
	}
}

// named are the texts in the tests of this folder, but for those that variants of another load are made of, each with the variable
// without which all functions that have it skip, "" where one does not.
func named(t *testing.T) map[string]string {
	t.Helper()
	functions, needs := functionsHere(t), map[string]string{}
	for range functions { // as often as the longest chain of calls may be
		for _, f := range functions {
			if f.skips && f.variable != "" {
				needs[f.name] = f.variable
			}
			for _, called := range f.calls {
				if needs[called] != "" {
					needs[f.name] = needs[called]
				}
			}
		}
	}
	found := map[string]string{}
	for _, f := range functions {
		for _, text := range f.texts {
			if before, ok := found[text]; !ok || before != "" {
				found[text] = needs[f.name]
			}
		}
	}
	return found
}

// function of a test file, or what stands outside of functions.
type function struct {
	name         string
	calls, texts []string
	skips        bool
	variable     string // of the environment, that it reads
}

func functionsHere(t *testing.T) []function {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []function
	for _, file := range files {
		if file == "every_test.go" {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range tree.Decls {
			found = append(found, read(declared))
		}
	}
	return found
}

func read(declared ast.Decl) (f function) {
	if d, ok := declared.(*ast.FuncDecl); ok {
		f.name = d.Name.Name
	}
	ast.Inspect(declared, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return f.call(n)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				f.texts = append(f.texts, text)
			}
		}
		return true
	})
	return f
}

// call tells whether the texts in a call count.
func (f *function) call(c *ast.CallExpr) bool {
	switch called := c.Fun.(type) {
	case *ast.Ident:
		f.calls = append(f.calls, called.Name)
		return called.Name != "variant"
	case *ast.SelectorExpr:
		f.skips = f.skips || strings.HasPrefix(called.Sel.Name, "Skip")
		if called.Sel.Name == "Getenv" {
			if name, ok := c.Args[0].(*ast.BasicLit); ok {
				f.variable = strings.Trim(name.Value, `"`)
			}
		}
	}
	return true
}
