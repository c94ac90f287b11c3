package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"replab.dev/test/docs"
)

// TestPagesAreShort in each cell of a table and each sentence. Blocks of code are neither.
func TestPagesAreShort(t *testing.T) {
	for _, long := range docs.Long(docs.Pages(t)) {
		t.Error(long)
	}
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func TestHintNamesLongSentencesAndCells(t *testing.T) {
	source := "# A\n\n| a | b |\n|---|---|\n| " + words(25) + " | [one](two.md) " + words(25) + " |\n\n" +
		words(30) + ".\n" + words(20) + "\n" + words(10) + " 1.5.\n\n- " + words(30) + ". `Short` one: " + words(25) + "!\n\n" +
		"```\n" + words(40) + "\n```\n\n| metric | meaning |\n|---|---|\n| `replab_a` | " + words(40) + " |\n"
	want := "hint: 1 sentences above 30 words, 1 cells of tables above 25 words\n" +
		"docs/a.md:5: 26 words in a cell: one " + words(25) + "\ndocs/a.md:8: 31 words in a sentence: " + words(30) + " 1.5.\n"
	var pages []docs.Page
	for _, path := range []string{"docs/a.md", "docs/reference/api.md", "docs/adr/0001-a.md"} {
		pages = append(pages, docs.Parse(path, []byte(source)))
	}
	if got := docs.Hint(pages); got != want {
		t.Errorf("hint:\n%s\nwant:\n%s", got, want)
	}
}

func TestHintListsTheFirstTen(t *testing.T) {
	var source strings.Builder
	for range 12 {
		fmt.Fprintf(&source, "%s.\n\n", words(31))
	}
	got := docs.Hint([]docs.Page{docs.Parse("a.md", []byte(source.String()))})
	if lines := strings.Split(strings.TrimSpace(got), "\n"); len(lines) != 11 || !strings.HasPrefix(lines[0], "hint: 12 sentences") ||
		!strings.HasPrefix(lines[10], "a.md:19: 31 words") {
		t.Errorf("hint:\n%s", got)
	}
}
