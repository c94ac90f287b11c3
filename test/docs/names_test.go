package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"replab.dev/test/docs"
	"replab.dev/test/experiment"
)

var (
	targetLine = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):(?:[^=]|$)`)
	makeCall   = regexp.MustCompile(`(?m)(?:^|[\s;&(])make ((?:[A-Za-z_]+=\S* +)*)([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*)`)
	// A file or a folder of this project: from its first folder on.
	ownPath = regexp.MustCompile(`^(?:\./)?(?:api|charts|cmd|config|controllers|docs|experiments|hack|internal|test|\.ci)/[A-Za-z0-9_.,{}*/-]+$`)
)

// TestMakeTargetsExist in commands and in sentences.
func TestMakeTargetsExist(t *testing.T) {
	var targets []string
	for _, file := range []string{"Makefile", "hack/local/local.mk"} {
		text, err := os.ReadFile(filepath.Join(experiment.Root(), file))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range targetLine.FindAllSubmatch(text, -1) {
			targets = append(targets, strings.Fields(string(match[1]))...)
		}
	}
	for _, page := range living(t) {
		for _, code := range codeOf(page) {
			for _, call := range makeCall.FindAllStringSubmatch(code, -1) {
				for _, target := range strings.Fields(call[2]) {
					if !slices.Contains(targets, target) {
						t.Errorf("%s: there is no `make %s`: %s", page.Path, target, code)
					}
				}
			}
		}
	}
}

// TestFilesExist that sentences and commands name.
func TestFilesExist(t *testing.T) {
	for _, page := range living(t) {
		for _, code := range codeOf(page) {
			for word := range strings.FieldsSeq(code) {
				word = strings.Trim(word, `"'();,`)
				if _, value, ok := strings.Cut(word, "="); ok { // EXPERIMENT=experiments/async.yaml
					word = value
				}
				if !ownPath.MatchString(word) || strings.Contains(word, "...") || strings.Contains(word, "NAME") {
					continue
				}
				for _, path := range alternatives(word) {
					if found, err := filepath.Glob(filepath.Join(experiment.Root(), path)); err != nil || len(found) == 0 {
						t.Errorf("%s: there is no %s", page.Path, path)
					}
				}
			}
		}
	}
}

// living are the pages that say what is so now. Records of decisions say what was.
func living(t *testing.T) []docs.Page {
	t.Helper()
	return slices.DeleteFunc(docs.Pages(t), func(p docs.Page) bool { return strings.HasPrefix(p.Path, "docs/adr/") })
}

func codeOf(page docs.Page) []string {
	code := slices.Clone(page.Spans)
	for _, block := range page.Blocks {
		if block.Language != "text" { // what a program printed
			code = append(code, block.Commands())
		}
	}
	return code
}

// alternatives are the paths that a/{b,c} means.
func alternatives(path string) []string {
	before, rest, open := strings.Cut(path, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !open || !closed {
		return []string{path}
	}
	var paths []string
	for part := range strings.SplitSeq(inner, ",") {
		paths = append(paths, alternatives(before+part+after)...)
	}
	return paths
}
