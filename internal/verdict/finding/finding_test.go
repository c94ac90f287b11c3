package finding

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// most is how many words a sentence may have; a parameter is one.
const most = 25

// declared codes of the package by their names.
func declared(t *testing.T) map[string]Code {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	effects := map[string]Effect{"Clause": Clause, "Note": Note, "Passed": Passed, "Failed": Failed, "Inconclusive": Inconclusive, "Invalid": Invalid}
	codes := map[string]Code{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		parts := v.Values[0].(*ast.CompositeLit).Elts
		sentence, err := strconv.Unquote(parts[1].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes[v.Names[0].Name] = Code{effects[parts[0].(*ast.Ident).Name], sentence}
		return true
	})
	if len(codes) < 200 {
		t.Fatalf("only %d codes were read", len(codes))
	}
	return codes
}

func TestSentencesAreShort(t *testing.T) {
	for name, c := range declared(t) {
		words := strings.Fields(c.sentence)
		if len(words) > most {
			t.Errorf("%s has %d words, more than %d: %s", name, len(words), most, c.sentence)
		}
		if c.sentence == "%s" { // the parameter is a sentence, or a clause
			continue
		}
		if whole := strings.HasSuffix(c.sentence, "."); whole == (c.effect == Clause) {
			t.Errorf("%s: a sentence ends with a full stop, and a clause does not: %s", name, c.sentence)
		}
	}
}

var verb = regexp.MustCompile(`%[.0-9]*[a-z]`)

func TestAClauseIsPartOfItsSentence(t *testing.T) {
	whole := Of(GhostsUnknown, "a-db-0", Of(DataDeleted, "crash"))
	if want := "Ghost writes of node a-db-0 are unknown: fault crash deleted its data with its pod."; whole.String() != want {
		t.Errorf("%s, want %s", whole, want)
	}
	for name, c := range declared(t) {
		params := make([]any, len(verb.FindAllString(c.sentence, -1)))
		for i := range params {
			params[i] = i
		}
		if strings.Contains(strings.NewReplacer("%!s(int=", "", "%!f(int=", "").Replace(fmt.Sprintf(c.sentence, params...)), "%!") {
			t.Errorf("%s takes other parameters: %s", name, c.sentence)
		}
	}
}
