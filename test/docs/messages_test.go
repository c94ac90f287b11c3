package docs_test

import (
	"go/ast"
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

// literals of the code in folders.
func literals(t *testing.T, folders ...string) (all []string) {
	for _, folder := range folders {
		for _, file := range parsed(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if text, ok := literal(e); ok {
						all = append(all, text)
					}
				}
				return true
			})
		}
	}
	return all
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

func TestReasonsThatEndARunHaveRemedies(t *testing.T) {
	reasons := 0
	for _, row := range docs.Read(t, debugPage).Rows {
		if !aWord.MatchString(row[0]) {
			continue
		}
		reasons++
		x := &v1alpha1.ReplicationExperiment{}
		x.Status.Verdict = v1alpha1.VerdictInconclusive
		x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse, Reason: row[0]}}
		if lines := remedy.Experiment(x, time.Time{}); len(lines) != 2 {
			t.Errorf("`kubectl replab describe` has no remedy for %s, but %q", row[0], lines)
		}
	}
	if reasons < 20 {
		t.Errorf("only %d reasons were found", reasons)
	}
}
