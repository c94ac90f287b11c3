package plain

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"sigs.k8s.io/yaml"
)

const evil = "a\x1b]0;title\ab\u009b2Jc\x9bd\ne\tµ\r\u202ez"

func TestTextsOfOthersSteerNoTerminal(t *testing.T) {
	if got, want := Line(evil), "a ]0;title b 2Jc\ufffdd e µ  z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Lines(evil), "a ]0;title b 2Jc\ufffdd\ne\tµ  z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	w := Writer(&b)
	for i := range len(evil) { // in pieces that break characters
		if n, err := w.Write([]byte{evil[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := b.String(), "a ]0;title b 2Jc\ufffdd\ne\tµ  z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCIServersTakeNoCommandFromOthersTexts(t *testing.T) {
	for said, want := range map[string]string{
		"a ##[add-path]/tmp":           "a ##\u200b[add-path]/tmp",
		"###[error]a":                  "###\u200b[error]a",
		"a ##vso[task.setvariable a]b": "a ##\u200bvso[task.setvariable a]b",
		"##VSO[a]##[b]":                "##\u200bVSO[a]##\u200b[b]",
		"##\x1b[a]":                    "## [a]",
		"## a [b]":                     "## a [b]",
	} {
		if got := Line(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

func TestJSONKeepsItsContent(t *testing.T) {
	const said = "a\x1b\u009b\u202e\tb"
	plain, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	got, read := JSON(string(plain)), ""
	if err := json.Unmarshal([]byte(got), &read); err != nil || read != said || strings.ContainsFunc(got, obeyed) {
		t.Errorf("%q is read as %q, %v", got, read, err)
	}
}

func TestYAMLKeepsItsContent(t *testing.T) {
	const said = "a\x1b\u009b\u202e\tb"
	text, err := YAML(map[string]string{"x": said})
	var read map[string]string
	if err != nil || yaml.Unmarshal([]byte(text), &read) != nil || read["x"] != said {
		t.Errorf("%q is read as %q, %v", text, read, err)
	}
}

// TestMarkdownOfGitHubIsBroken: goldmark has no references to issues and no mathematics, and GitHub takes a zero-width space for the begin of a host.
func TestMarkdownOfGitHubIsBroken(t *testing.T) {
	for said, want := range map[string]string{
		"a/b#12": "a/b#\u200b12", "$a$": `\$a\$`, "https://a.bc": "https:\u200b//a.bc", "www.a.bc": "www\u200b.a.bc",
	} {
		if got := Markdown(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

// TestMarkdownReadsAsItsText in a browser: in a list, a heading and a table.
func TestMarkdownReadsAsItsText(t *testing.T) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	for _, said := range []string{
		"# a", "## a", "- a", "-- a", "---", "+ a", "1. a", "12) a", "> a", ">a", "***", "~~~", "```", "    a", "a `b` c", "*a* _b_ **c** ~~d~~", "[a](b)", `\[a](b)`, `a\|b`, "![a](b)",
		"<b>a</b>", "<!-- a", "&lt;b&gt;", "a | b", "a\n# b", "a\r\n\r\n- b", "+1 %", "-5 ms", "1.5 s", "a <b@c.d>", `\`, "a_b",
		"https://a.bc/d", "see HTTP://a.bc, ftp://a.bc", "www.a.bc", "a www.b.cd/e", "#12", "a/b#12", "####", "##[a]", "$a$", "$$a$$", "$`a`$", `a $\b$`,
	} {
		for _, around := range [][4]string{
			{"- ", "\n", "<ul>\n<li>", "</li>\n</ul>\n"},
			{"# ", "\n", "<h1>", "</h1>\n"},
			{"| a |\n|---|\n| ", " |\n", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>", "</td>\n</tr>\n</tbody>\n</table>\n"},
		} {
			var page strings.Builder
			if err := markdown.Convert([]byte(around[0]+Markdown(said)+around[1]), &page); err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(html.UnescapeString(page.String()), "\u200b", "")
			if want := around[2] + strings.ReplaceAll(strings.TrimSpace(Line(said)), "\u200b", "") + around[3]; got != want {
				t.Errorf("%q is written as %q and shows\n%s", said, Markdown(said), got)
			}
		}
	}
}
