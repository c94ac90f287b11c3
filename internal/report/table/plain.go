package table

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain is a text of others in one line: what would move a terminal's cursor, change what it shows or turn its order round is a blank.
func Plain(text string) string { return blank(text, "") }

// Harmless is a text of others with its lines and tabs, which a terminal shows and does not obey.
func Harmless(text string) string { return blank(text, "\n\t") }

// Escaped is JSON with the same content, in which what a terminal obeys is escaped: the encoder leaves in a part of it.
func Escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if obeyed(r) && r != '\n' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func blank(text, keep string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) && !strings.ContainsRune(keep, r) {
			return ' '
		}
		return r
	}, text)
}

func obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
