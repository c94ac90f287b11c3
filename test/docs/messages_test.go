package docs_test

import (
	"go/ast"
	"go/token"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin"
	"replab.dev/internal/report/remedy"
	"replab.dev/test/docs"
)

// literals of the code in folders. Those that are added up are one.
func literals(t *testing.T, folders ...string) (all []string) {
	for _, folder := range folders {
		for _, file := range parsed(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text, ok := sum(e)
				if ok {
					all = append(all, text)
				}
				return !ok
			})
		}
	}
	return all
}

func sum(e ast.Expr) (string, bool) {
	both, ok := e.(*ast.BinaryExpr)
	if !ok {
		return literal(e)
	}
	left, ok := sum(both.X)
	right, also := sum(both.Y)
	return left + right, ok && also && both.Op == token.ADD
}

// TestMessagesAreShort: reasons, refusals, conditions, errors and log lines. A parameter is a word; texts of several lines are help.
func TestMessagesAreShort(t *testing.T) {
	all, data := literals(t, "api", "cmd", "controllers", "internal"), literals(t, "internal/dataset")
	for _, text := range all {
		sql := strings.Contains(text, "SELECT ") || strings.Contains(text, "CREATE ")
		if words := len(strings.Fields(text)); words > 25 && !strings.Contains(text, "\n") && !sql && !slices.Contains(data, text) {
			t.Errorf("%d words in a message: %s", words, text)
		}
	}
	if len(all) < 5000 {
		t.Errorf("only %d literals were found", len(all))
	}
}

var (
	namedPage    = regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.md(#[a-z0-9-]+)?`)
	namedCommand = regexp.MustCompile("`kubectl replab ([^`]+)`")
	aWord        = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
)

func TestMessagesNamePagesAndCommandsThatExist(t *testing.T) {
	anchors := map[string][]string{}
	for _, page := range docs.Pages(t) {
		anchors[page.Path] = page.Anchors
	}
	root := plugin.Command("test", genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	pages, commands := 0, 0
	for _, text := range literals(t, "api", "cmd", "controllers", "internal") {
		for _, link := range namedPage.FindAllString(text, -1) {
			pages++
			path, anchor, _ := strings.Cut(link, "#")
			if found, ok := anchors[path]; !ok || anchor != "" && !slices.Contains(found, anchor) {
				t.Errorf("there is no %s: %s", link, text)
			}
		}
		for _, call := range namedCommand.FindAllStringSubmatch(text, -1) {
			commands++
			cmd, arguments, err := root.Find(strings.Fields(call[1]))
			if err != nil || cmd == root {
				t.Errorf("there is no command %s: %s", call[1], text)
			} else if err := cmd.ParseFlags(arguments); err != nil {
				t.Errorf("%s: %v", call[1], err)
			}
		}
	}
	if pages < 50 || commands < 20 {
		t.Errorf("only %d pages and %d commands were found", pages, commands)
	}
}

var reportCall = regexp.MustCompile("kubectl replab report [^`\n]+")

// TestReportsInMessagesHaveAFileOrAFormat, since a page is refused in a terminal.
func TestReportsInMessagesHaveAFileOrAFormat(t *testing.T) {
	calls := 0
	for _, text := range literals(t, "api", "cmd", "controllers", "internal") {
		for _, call := range reportCall.FindAllString(text, -1) {
			calls++
			if !strings.Contains(call, " --file ") && !strings.Contains(call, " -o ") {
				t.Errorf("a terminal refuses %s", call)
			}
		}
	}
	if calls < 10 {
		t.Errorf("only %d calls were found", calls)
	}
}

// TestReasonsHaveTheirRemedies: the table says what `kubectl replab describe` says, with links for pages. It may say more.
func TestReasonsHaveTheirRemedies(t *testing.T) {
	ended := 0
	for _, row := range docs.Read(t, conditionsPage).Rows {
		if len(row) != 4 || !aWord.MatchString(row[0]) {
			continue
		}
		reason, state, cell := row[0], row[1], row[3]
		want := remedyOf(state, reason)
		if state == "ended" {
			ended++
			if want == "" {
				t.Errorf("`kubectl replab describe` has no remedy for %s", reason)
			}
		}
		if !strings.HasPrefix(cell, want) {
			t.Errorf("%s: %s (%s) has %q, the remedy is %q", conditionsPage, reason, state, cell, want)
		}
	}
	if ended < 20 {
		t.Errorf("only %d reasons that end a run were found", ended)
	}
}

// remedyOf returns the remedy of a reason up to its page, as a cell of a table has it; "" without a remedy of its own.
func remedyOf(state, reason string) string {
	x, s := &v1alpha1.ReplicationExperiment{}, &v1alpha1.ReplicationSuite{}
	x.Name, x.Namespace, s.Name, s.Namespace = "NAME", "b", "NAME", "b"
	x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Reason: reason}}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: reason}}
	if !strings.HasPrefix(state, "waits") {
		x.Status.Verdict = v1alpha1.VerdictInconclusive
	}
	lines := remedy.Experiment(x, time.Time{})
	if state == "suite waits" {
		lines = remedy.Suite(s)
	}
	if len(lines) == 0 || strings.HasPrefix(lines[0], "Repeat the run") {
		return ""
	}
	line, _, _ := strings.Cut(strings.NewReplacer("`", "", " -n b", "").Replace(lines[0]), "docs/")
	return strings.TrimRight(line, " :.")
}
