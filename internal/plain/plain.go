// Package plain keeps texts of others plain: no terminal, browser, spreadsheet or page of Markdown obeys what they hold. It is pure.
package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"sigs.k8s.io/yaml"
)

// obeyed are the characters that move a cursor, change what a terminal shows, or turn the order of a line round.
func obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Line is a text in one line, without commands to a CI server: an obeyed character is a blank.
func Line(text string) string {
	return NoCommands(strings.Map(func(r rune) rune {
		if obeyed(r) {
			return ' '
		}
		return r
	}, text))
}

// command begins what the runners of GitHub and of Azure obey anywhere in a line.
var command = regexp.MustCompile(`(?i)##(\[|vso\[)`)

// NoCommands breaks commands to a CI server by a zero-width space. It is not for JSON, whose content it changes.
func NoCommands(text string) string { return command.ReplaceAllString(text, "##\u200b$1") }

// Lines is a text with its lines and tabs: any other obeyed character is a blank.
func Lines(text string) string { return strings.Map(ofLines, text) }

// ofLines is a character of a text with lines and tabs.
func ofLines(r rune) rune {
	if obeyed(r) && r != '\n' && r != '\t' {
		return ' '
	}
	return r
}

// Writer writes texts with their lines and tabs: any other obeyed character is a blank. Several goroutines may write.
func Writer(w io.Writer) io.Writer { return &writer{to: transform.NewWriter(w, runes.Map(ofLines))} }

type writer struct {
	mutex sync.Mutex
	to    *transform.Writer
}

func (w *writer) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.to.Write(text)
}

// JSON is a JSON text with the same content. The encoder leaves some obeyed characters in it, and here they are escaped.
func JSON(text string) string {
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

// YAML of a value, also where its texts hold control characters.
func YAML(of any) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	text, err = yaml.JSONToYAML([]byte(JSON(string(text)))) // its reader refuses the characters that JSON has as they are
	return string(text), err
}

var (
	// inline begins markup anywhere in a line. A zero-width space keeps @ from mentioning somebody, # from being a heading or a reference to an
	// issue, and addresses from being links.
	inline = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "|", `\|`, "$", `\$`, "<", "&lt;", "&", "&amp;",
		"@", "@\u200b", "#", "#\u200b", "://", ":\u200b//", "www.", "www\u200b.")
	// leading begins a block of Markdown: a list, a quotation or a rule.
	leading = regexp.MustCompile(`^(\d*)(>|--|[-+.)](?:\s|$))`)
)

// Markdown is a text in one line without any markup.
func Markdown(text string) string {
	return leading.ReplaceAllString(strings.TrimSpace(inline.Replace(Line(text))), `$1\$2`)
}

// Cells are cells of which a spreadsheet takes none for a formula: numbers stay as they are.
func Cells(line []string) []string {
	for i, cell := range line {
		if _, err := strconv.ParseInt(cell, 10, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			line[i] = "'" + cell
		}
	}
	return line
}
