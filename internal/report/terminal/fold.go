package terminal

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A name is not broken at its hyphens, and a blank that does not break becomes one again.
var unbroken, shown = strings.NewReplacer("-", "\u2011"), strings.NewReplacer("\u2011", "-", "\u00a0", " ")

// commands are not broken either: people copy them.
var commands = regexp.MustCompile("`[^`]*`")

// Together is a text that is not broken.
func Together(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// Fold breaks a line between words into lines of at most so many columns. Those after the first are indented. A longer word is cut, but for the first.
func Fold(line string, width, indent int) string {
	first, rest, more := strings.Cut(ansi.Wordwrap(unbroken.Replace(commands.ReplaceAllStringFunc(line, Together)), width, ""), "\n")
	if more {
		margin := "\n" + strings.Repeat(" ", indent)
		rest = ansi.Wrap(strings.TrimLeft(strings.ReplaceAll(rest, "\n", " "), " "), max(width-indent, 1), "")
		first += margin + strings.ReplaceAll(rest, "\n", margin)
	}
	return shown.Replace(first)
}
