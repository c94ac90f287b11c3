package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

const debugPage = "docs/how-to/debug.md"

// reasonPages have the conditions, the reasons and the verdicts in their tables.
var reasonPages = []string{debugPage, "docs/reference/conditions.md", "docs/concepts/verdicts.md"}

// TestPagesHaveEveryConditionAndReason that the operator can set, and no other.
func TestPagesHaveEveryConditionAndReason(t *testing.T) {
	inCode := map[string]bool{}
	for _, file := range parsed(t, "api/v1alpha1") {
		constants(file, inCode)
	}
	for _, file := range parsed(t, "controllers") {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				reasons(call, inCode)
			}
			return true
		})
	}
	onPage, word := map[string]bool{}, regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	for _, page := range reasonPages {
		for _, row := range docs.Read(t, page).Rows {
			if word.MatchString(row[0]) {
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

// reasons that a call gives: Wait(after, reason, ...) and set(run, condition, status, reason, message).
func reasons(call *ast.CallExpr, found map[string]bool) {
	at := map[string]int{"Wait": 1, "set": 3}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	i, ok := at[name]
	if !ok || i >= len(call.Args) {
		return
	}
	if text, ok := literal(call.Args[i]); ok {
		found[text] = true
	} else if named, ok := call.Args[i].(*ast.Ident); ok && named.Name == "reasonDone" {
		found["Done"] = true
	}
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
