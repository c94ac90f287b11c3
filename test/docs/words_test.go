package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"replab.dev/test/docs"
)

const (
	wordsOfACell     = 25
	wordsOfASentence = 30
)

// endOfSentence is a full stop with a space behind it: not the point of a number, a name or a list's colon.
var endOfSentence = regexp.MustCompile(`[.?!][)"]?\s+`)

// TestPagesAreShort in each cell of a table and each sentence. Blocks of code are neither; api.md and the rows of metrics are generated.
func TestPagesAreShort(t *testing.T) {
	for _, page := range living(t) {
		if page.Path == "docs/api.md" {
			continue
		}
		for _, long := range longParts(page) {
			t.Errorf("%s: %s", page.Path, long)
		}
	}
}

func TestLongPartsCountWords(t *testing.T) {
	cell, sentence := strings.Repeat("word ", wordsOfACell), strings.Repeat("word ", wordsOfASentence)
	source := "| a | b |\n|---|---|\n| " + cell + "| [one](two.md) " + cell + "|\n\n" +
		sentence + "1.5.\n\n- " + strings.TrimSpace(sentence) + ". `Short` one: " + cell + "!\n\n```\n" + sentence + "more\n```\n"
	long := longParts(docs.Parse("a.md", []byte(source)))
	if len(long) != 2 || !strings.HasPrefix(long[0], "26 words in a cell") || !strings.HasPrefix(long[1], "31 words in a sentence") {
		t.Errorf("long parts: %q", long)
	}
}

// longParts are the cells and sentences of a page that have too many words.
func longParts(page docs.Page) []string {
	var long []string
	check := func(kind, text string, most int) {
		if n := len(strings.Fields(text)); n > most {
			long = append(long, fmt.Sprintf("%d words in a %s, at most %d: %s", n, kind, most, text))
		}
	}
	for _, row := range page.Rows {
		if strings.HasPrefix(row[0], "replab_") {
			continue
		}
		for _, cell := range row {
			check("cell", cell, wordsOfACell)
		}
	}
	for _, paragraph := range page.Paragraphs {
		for _, sentence := range endOfSentence.Split(paragraph, -1) {
			check("sentence", sentence, wordsOfASentence)
		}
	}
	return long
}
