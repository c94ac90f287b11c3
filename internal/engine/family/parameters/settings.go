package parameters

import (
	"regexp"
	"strings"
)

// Settings are those of one server, by their plain names.
type Settings map[string]Kind

// Kind is what a server takes as a setting's value; "" is a word, a switch or a text.
type Kind string

// kinds of numbers, each with what a server reads without a loss.
var kinds = map[Kind]struct {
	form *regexp.Regexp
	why  string
}{
	"integer": {regexp.MustCompile(`^\+?[0-9]+[kKmMgGtTpPeE]?$`), "the server takes whole numbers only. Use digits and K, M, G or T, such as 1536M."},
	"signed":  {regexp.MustCompile(`^[-+]?[0-9]+[kKmMgGtTpPeE]?$`), "the server takes whole numbers only. Use digits, such as 100 or -1."},
	"real":    {regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)$`), "the server takes a decimal number without a unit. Use one such as 0.5."},
}

func (k Kind) refuse(value string) string {
	if number, ok := kinds[k]; ok && !number.form.MatchString(value) {
		return number.why
	}
	return ""
}

// ParseSettings reads a list of settings: a name and its kind a line, and comments after '#'.
func ParseSettings(text string) Settings {
	all := Settings{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			all[PlainName(fields[0])] = Kind(strings.Join(fields[1:], ""))
		}
	}
	return all
}

// Knows does as validation.Server's Knows says.
func (s Settings) Knows(name string) bool {
	_, ok := s[PlainName(name)]
	return ok
}
