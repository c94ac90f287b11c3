package table

import (
	"strings"
	"unicode"
)

// Plain is a text of others in one line: what would move a terminal's cursor, change what it shows or turn its order round is a blank.
func Plain(text string) string { return blank(text, "") }

// Harmless is a text of others with its lines and tabs, which a terminal shows and does not obey.
func Harmless(text string) string { return blank(text, "\n\t") }

func blank(text, keep string) string {
	return strings.Map(func(r rune) rune {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(keep, r) {
			return ' '
		}
		return r
	}, text)
}
