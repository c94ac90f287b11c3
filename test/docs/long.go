package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Text is a sentence or a cell of a table.
type Text struct {
	Page string
	Line int
	Cell bool
	Text string
}

// The most words of a cell, and of a sentence.
const (
	wordsOfACell     = 25
	wordsOfASentence = 30
)

// listed is how many long texts a hint lists.
const listed = 10

func (t Text) words() int { return len(strings.Fields(t.Text)) }

// String has the place, the number of words and the text.
func (t Text) String() string {
	kind := "sentence"
	if t.Cell {
		kind = "cell"
	}
	return fmt.Sprintf("%s:%d: %d words in a %s: %s", t.Page, t.Line, t.words(), kind, t.Text)
}

// Long returns the sentences and cells with too many words, in the order of the pages. It leaves out records of decisions and the generated
// reference of the API.
func Long(pages []Page) (long []Text) {
	for _, page := range pages {
		if page.Path == "docs/reference/api.md" || strings.HasPrefix(page.Path, "docs/adr/") {
			continue
		}
		for _, text := range page.Texts {
			if text.Cell && text.words() > wordsOfACell || !text.Cell && text.words() > wordsOfASentence {
				long = append(long, text)
			}
		}
	}
	return long
}

// Hint counts the long sentences and cells of pages, and lists the first ten.
func Hint(pages []Page) string {
	long := Long(pages)
	cells := 0
	for _, text := range long {
		if text.Cell {
			cells++
		}
	}
	hint := fmt.Sprintf("hint: %d sentences above %d words, %d cells of tables above %d words\n", len(long)-cells, wordsOfASentence, cells, wordsOfACell)
	for _, text := range long[:min(len(long), listed)] {
		hint += text.String() + "\n"
	}
	return hint
}

// endOfSentence is a full stop with a space behind it, not the point of a number or a name.
var endOfSentence = regexp.MustCompile(`[.?!][)"]?\s+`)

// sentences splits a paragraph.
func sentences(n ast.Node, source []byte) (found []Text) {
	text, parts := placed(n, source)
	begin := 0
	for _, end := range append(endOfSentence.FindAllStringIndex(text, -1), []int{0, len(text)}) {
		if sentence := strings.TrimSpace(text[begin:end[1]]); sentence != "" {
			found = append(found, Text{Line: line(begin, parts, source), Text: sentence})
		}
		begin = end[1]
	}
	return found
}

// cells returns the cells of a table's row that are not empty.
func cells(row ast.Node, source []byte) (found []Text) {
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if text, parts := placed(cell, source); text != "" {
			found = append(found, Text{Line: line(0, parts, source), Cell: true, Text: text})
		}
	}
	return found
}

// line returns the source's line, from 1, of a place in the plain text.
func line(place int, parts []part, source []byte) int {
	i, found := slices.BinarySearchFunc(parts, place, func(p part, at int) int { return cmp.Compare(p.plain, at) })
	if !found {
		i--
	}
	if i < 0 {
		return 1
	}
	return 1 + bytes.Count(source[:parts[i].source], []byte("\n"))
}
