package table

import (
	"strings"
	"unicode"
)

// Plain is a text of others in one line: what would move a terminal's cursor or change what it shows is a blank.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// escape begins what a terminal obeys; the controls of C1 do the same in one character.
const escape = '\x1b'

// Harmless is a text of others with its lines and tabs, which a terminal shows and does not obey.
func Harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r == escape || r >= 0x80 && r <= 0x9f {
			return ' '
		}
		return r
	}, text)
}
