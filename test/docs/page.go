// Package docs reads the project's pages as people read them, so that tests can hold what they say against what there is: links and
// their anchors, blocks of code, and names of files, make targets and fields.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"replab.dev/test/experiment"
)

// Page is a file of Markdown.
type Page struct {
	// Path from the project's folder.
	Path string
	// Anchors of its headings, as GitHub makes them.
	Anchors []string
	// Links and images.
	Links []string
	// Blocks of code.
	Blocks []Block
	// Spans of code within sentences.
	Spans []string
	// Rows of its tables: the text of each cell.
	Rows [][]string
	// Texts are the sentences and the cells of tables, without the generated rows of metrics.
	Texts []Text
}

// Block is a block of code.
type Block struct {
	// Language is the first word after its fence: empty for a block that is indented.
	Language string
	// File is the word after that: under which name people are told to save it.
	File string
	Text string
}

// OfCI tells whether a CI system reads the block: its file has a place in a repository.
func (b Block) OfCI() bool { return strings.HasPrefix(b.File, ".") || strings.Contains(b.File, "/") }

// Commands of a block: all of its lines, or of a console's those behind the prompt.
func (b Block) Commands() string {
	if b.Language != "console" {
		return b.Text
	}
	var commands strings.Builder
	for line := range strings.Lines(b.Text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands.WriteString(command)
		}
	}
	return commands.String()
}

// Pages reads all pages of the project for a test.
func Pages(t testing.TB) []Page {
	t.Helper()
	pages, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// All reads the pages in the project's folder, and below docs, charts and experiments.
func All() ([]Page, error) {
	root := experiment.Root()
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"docs", "charts", "experiments"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".md" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var pages []Page
	for _, file := range files {
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		page, err := open(relative)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// Read reads one page by its path from the project's folder.
func Read(t testing.TB, path string) Page {
	t.Helper()
	page, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func open(path string) (Page, error) {
	source, err := os.ReadFile(filepath.Join(experiment.Root(), path))
	if err != nil {
		return Page{}, err
	}
	return Parse(path, source), nil
}

// Parse reads the text of a page.
func Parse(path string, source []byte) Page {
	page := Page{Path: path}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table))
	// No visit fails, so neither does the walk.
	_ = ast.Walk(markdown.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			page.take(n, source)
		}
		return ast.WalkContinue, nil
	})
	for i := range page.Texts {
		page.Texts[i].Page = path
	}
	return page
}

func (p *Page) take(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		p.Anchors = append(p.Anchors, anchor(plain(n, source), p.Anchors))
	case *ast.Link:
		p.Links = append(p.Links, string(n.Destination))
	case *ast.Image:
		p.Links = append(p.Links, string(n.Destination))
	case *ast.Paragraph, *ast.TextBlock:
		p.Texts = append(p.Texts, sentences(n, source)...)
	case *ast.CodeSpan:
		p.Spans = append(p.Spans, plain(n, source))
	case *ast.CodeBlock:
		p.Blocks = append(p.Blocks, Block{Text: lines(n, source)})
	case *ast.FencedCodeBlock:
		block := Block{Text: lines(n, source)}
		if n.Info != nil {
			words := strings.Fields(string(n.Info.Segment.Value(source)))
			if len(words) > 0 {
				block.Language = words[0]
			}
			if len(words) > 1 {
				block.File = words[1]
			}
		}
		p.Blocks = append(p.Blocks, block)
	}
	if n.Kind().String() == "TableRow" {
		var row []string
		for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
			row = append(row, plain(cell, source))
		}
		p.Rows = append(p.Rows, row)
		if !strings.HasPrefix(row[0], "replab_") {
			p.Texts = append(p.Texts, cells(n, source)...)
		}
	}
}

func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return b.String()
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	said, _ := placed(n, source)
	return said
}

// part is where a part of a plain text begins, there and in the source.
type part struct{ plain, source int }

// placed is the text of a node without its marks, and where its parts begin.
func placed(n ast.Node, source []byte) (string, []part) {
	var b strings.Builder
	var parts []part
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				parts = append(parts, part{b.Len(), n.Segment.Start})
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String(), parts
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// anchor is what GitHub makes of a heading: small letters, hyphens for spaces, no other marks, and a number behind one that is there
// already.
func anchor(heading string, taken []string) string {
	name := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
	found := name
	for i := 1; slices.Contains(taken, found); i++ {
		found = name + "-" + strconv.Itoa(i)
	}
	return found
}
