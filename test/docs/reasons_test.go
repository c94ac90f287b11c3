package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

const (
	debugPage      = "docs/how-to/debug.md"
	conditionsPage = "docs/reference/conditions.md"
)

// reasonPages have the conditions, the reasons and the verdicts in their tables.
var reasonPages = []string{conditionsPage, "docs/concepts/verdicts.md"}

// TestPagesHaveEveryConditionAndReason that the operator can set, and no other.
func TestPagesHaveEveryConditionAndReason(t *testing.T) {
	inCode := map[string]bool{}
	for _, file := range parsed(t, "api/v1alpha1") {
		constants(file, inCode)
	}
	onPage := map[string]bool{}
	for _, page := range reasonPages {
		for _, row := range docs.Read(t, page).Rows {
			if aWord.MatchString(row[0]) {
				onPage[row[0]] = true
			}
		}
	}
	if len(inCode) < 40 {
		t.Errorf("only %d words were found in the code: %v", len(inCode), slices.Sorted(maps.Keys(inCode)))
	}
	for name := range inCode {
		if !onPage[name] {
			t.Errorf("no page of %v has %s", reasonPages, name)
		}
	}
	for name := range onPage {
		if !inCode[name] {
			t.Errorf("%v have %s, which no code sets", reasonPages, name)
		}
	}
}

// constants of the API that name a condition, a reason or a verdict.
func constants(file *ast.File, found map[string]bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		value, ok := n.(*ast.ValueSpec)
		if !ok || len(value.Values) != 1 {
			return true
		}
		for _, prefix := range []string{"Condition", "Reason", "Verdict"} {
			if text, ok := literal(value.Values[0]); ok && strings.HasPrefix(value.Names[0].Name, prefix) {
				found[text] = true
			}
		}
		return true
	})
}

// TestReasonsOfControllersAreConstants of the API: none is a literal or a constant of their own.
func TestReasonsOfControllersAreConstants(t *testing.T) {
	found := 0
	for _, file := range parsed(t, "controllers") {
		ast.Inspect(file, func(n ast.Node) bool {
			reason := reasonOf(n)
			if reason == nil {
				return true
			}
			found++
			if text, ok := literal(reason); ok {
				t.Errorf("package %s sets the reason %q: make it a constant of api/v1alpha1/conditions.go", file.Name, text)
			} else if own, ok := reason.(*ast.Ident); ok && own.Name != "reason" {
				t.Errorf("package %s sets the reason %s: make it a constant of api/v1alpha1/conditions.go", file.Name, own.Name)
			}
			return true
		})
	}
	if found < 100 {
		t.Errorf("only %d reasons were found", found)
	}
}

// reasonOf returns the reason that a node gives, or nil: Wait(after, reason, ...), Terminal(reason, ...), set(run, condition, status,
// reason, message), or a field Reason.
func reasonOf(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
			return n.Value
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		at, ok := map[string]int{"Wait": 1, "Terminal": 0, "set": 3}[name]
		if ok && at < len(n.Args) {
			return n.Args[at]
		}
	}
	return nil
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// parsed are the files of a folder and those below it, but for tests.
func parsed(t *testing.T, folder string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := filepath.WalkDir(filepath.Join(experiment.Root(), folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSentencesOfTheStatusAreSaid by the code, with … for what differs from run to run.
func TestSentencesOfTheStatusAreSaid(t *testing.T) {
	var said []string
	for _, folder := range []string{"internal/verdict", "controllers"} {
		for _, file := range parsed(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if text, ok := literal(e); ok {
						said = append(said, text)
					}
				}
				return true
			})
		}
	}
	quoted := 0
	for _, row := range docs.Read(t, debugPage).Rows {
		if !strings.Contains(row[0], "…") {
			continue
		}
		quoted++
		if !slices.ContainsFunc(said, func(text string) bool { return hasParts(text, strings.Split(row[0], "…")) }) {
			t.Errorf("%s quotes a sentence that nobody says: %s", debugPage, row[0])
		}
	}
	if quoted == 0 {
		t.Error("no sentence is quoted")
	}
}

// hasParts tells whether a text has all parts, one after another.
func hasParts(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, strings.TrimSpace(part))
		if !found {
			return false
		}
		text = after
	}
	return true
}
