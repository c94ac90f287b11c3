package docs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/markdown"
	"replab.dev/internal/report/suites"
	"replab.dev/test/experiment"
)

var update = flag.Bool("update", false, "write the tables of measured suites anew")

// measured are the pages that show suites, by the folder of what `kubectl replab export` wrote of these, with the file that each ran.
var measured = map[string]func(suite string) string{
	"seeds":  func(suite string) string { return "seeds/" + strings.TrimPrefix(suite, "seed-") },
	"suites": func(suite string) string { return "suites/" + suite },
}

// TestTablesOfSuitesAreThoseOfTheirRuns: what a page says of a suite is what was exported of it, and it has the variants of today's file.
func TestTablesOfSuitesAreThoseOfTheirRuns(t *testing.T) {
	for name, file := range measured {
		page := filepath.Join(experiment.Root(), "docs", "evidence", name+".md")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		folders, err := filepath.Glob(filepath.Join(experiment.Root(), "docs", "evidence", name, "*", "suite.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		want := string(text)
		for _, folder := range folders {
			s := exported(t, folder)
			if want, err = between(want, s.Name, tables(s)); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			for _, v := range experiment.LoadSuite(t, file(s.Name)).Spec.Variants {
				if !slices.ContainsFunc(s.Status.Variants, func(of v1alpha1.VariantStatus) bool { return of.Name == v.Name }) {
					t.Errorf("%s was run without variant %s: run it again", s.Name, v.Name)
				}
			}
		}
		if want == string(text) {
			continue
		}
		if !*update {
			t.Errorf("%s does not have the tables of its suites: go test ./test/docs -update", page)
		} else if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func exported(t *testing.T, file string) *v1alpha1.ReplicationSuite {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &v1alpha1.ReplicationSuite{}
	if err := yaml.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// tables of a suite that the page has: all but those that list every figure.
func tables(s *v1alpha1.ReplicationSuite) string {
	var b strings.Builder
	verdict := fmt.Sprintf("%s.", s.Status.Verdict)
	if reasons := s.Status.Reasons; len(reasons) == 1 { // several are of expectations, which have a table
		verdict += " " + reasons[0]
	}
	fmt.Fprintf(&b, "Run on %s: %s Trials: %s.\n", s.Status.StartTime.Format("2006-01-02"), verdict, suites.Counts(s))
	for _, t := range suites.Tables(s) {
		if t.Detail || strings.HasPrefix(t.Title, "Medians") {
			continue
		}
		markdown.Table(&b, figures.Table{Title: t.Title, Head: t.Head, Rows: t.Rows, Notes: t.Notes})
	}
	return strings.ReplaceAll(b.String(), "\n## ", "\n### ")
}

// between puts a text between the two comments of the page that name it.
func between(page, name, text string) (string, error) {
	first, last := fmt.Sprintf("<!-- measured: %s -->\n", name), fmt.Sprintf("\n<!-- end of %s -->", name)
	before, rest, found := strings.Cut(page, first)
	_, after, ended := strings.Cut(rest, last)
	if !found || !ended {
		return "", fmt.Errorf("there are no comments %q and %q", first, last)
	}
	return before + first + "\n" + text + last + after, nil
}

func TestBetween(t *testing.T) {
	const page = "a\n<!-- measured: x -->\nold\n<!-- end of x -->\nb\n"
	got, err := between(page, "x", "new\n")
	if want := "a\n<!-- measured: x -->\n\nnew\n\n<!-- end of x -->\nb\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, _ := between(got, "x", "new\n"); again != got {
		t.Errorf("a second time: %q", again)
	}
	if _, err := between(page, "y", ""); err == nil {
		t.Error("nothing is said where the page has no place for it")
	}
}
