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

func TestSentencesAreShort(t *testing.T) {
	for code, m := range table {
		words := strings.Fields(m.sentence)
		if len(words) > most {
			t.Errorf("%s has %d words, more than %d: %s", code, len(words), most, m.sentence)
		}
		if m.sentence == "%s" { // the parameter is a sentence, or a clause
			continue
		}
		if whole := strings.HasSuffix(m.sentence, "."); whole == (m.effect == Clause) {
			t.Errorf("%s: a sentence ends with a full stop, and a clause does not: %s", code, m.sentence)
		}
	}
}

// TestEveryCodeHasASentence reads the constants of the package.
func TestEveryCodeHasASentence(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := table[Code(text)]; !has {
			t.Errorf("%s has no sentence", text)
		}
		codes++
		return true
	})
	if codes != len(table) {
		t.Errorf("there are %d codes and %d sentences", codes, len(table))
	}
}

var verb = regexp.MustCompile(`%[.0-9]*[a-z]`)

func TestAClauseIsPartOfItsSentence(t *testing.T) {
	whole := Of(GhostsUnknown, "a-db-0", Of(DataDeleted, "crash"))
	if want := "Ghost writes of node a-db-0 are unknown: fault crash deleted its data with its pod."; whole.String() != want {
		t.Errorf("%s, want %s", whole, want)
	}
	for code, m := range table {
		params := make([]any, len(verb.FindAllString(m.sentence, -1)))
		for i := range params {
			params[i] = i
		}
		if strings.Contains(strings.NewReplacer("%!s(int=", "", "%!f(int=", "").Replace(fmt.Sprintf(m.sentence, params...)), "%!") {
			t.Errorf("%s takes other parameters: %s", code, m.sentence)
		}
	}
}
