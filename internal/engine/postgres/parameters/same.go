package parameters

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a server says of a setting's values: unit and vartype of pg_settings.
type Kind struct {
	Unit string // in which a number without a unit is, such as 8kB or ms; "" for none
	Type string // bool, integer, real, string or enum
}

// units that values can have, of memory in bytes and of time in microseconds, the largest first.
var (
	memoryUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
	timeUnits   = []unit{{"d", 86_400e6}, {"h", 3_600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}}
)

type unit struct {
	name string
	size float64
}

// chosen are values for which a server chooses others itself, and reports those.
var chosen = map[string]string{
	"wal_buffers": "-1", "commit_timestamp_buffers": "0", "subtransaction_buffers": "0", "transaction_buffers": "0",
}

// otherWord is the word that a server reports for another one that it takes.
func otherWord(name, value string) string {
	switch value = strings.ToLower(value); {
	case value == "debug":
		return "debug2"
	case name == "wal_compression":
		if on, _ := truth(value); on {
			return "pglz"
		}
	}
	return value
}

// Same reports whether a setting of this kind that was written as expected is what a server then reports as actual.
func (k Kind) Same(name, expected, actual string) bool {
	if strings.EqualFold(expected, actual) || (chosen[name] != "" && chosen[name] == expected) {
		return true
	}
	switch k.Type {
	case "enum": // many have on and off among their words
		if otherWord(name, expected) == actual {
			return true
		}
		fallthrough
	case "bool":
		e, known := truth(expected)
		a, stated := truth(actual)
		return known && stated && e == a
	case "integer", "real":
		e, known := k.number(expected)
		a, stated := k.number(actual)
		if k.Type == "integer" {
			return known && stated && e == a
		}
		return known && stated && math.Abs(e-a) <= 1e-5*math.Abs(a) // six digits are reported
	}
	return false
}

// truth reads a switch, whose words may be cut short.
func truth(value string) (on, ok bool) {
	value = strings.ToLower(value)
	for word, on := range map[string]bool{"on": true, "true": true, "yes": true, "1": true, "off": false, "false": false, "no": false, "0": false} {
		if value != "" && value != "o" && strings.HasPrefix(word, value) {
			return on, true
		}
	}
	return false, false
}

var numbers = regexp.MustCompile(`^\s*([-+]?(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?))\s*([A-Za-z]*)\s*$`)

// number reads a value in the kind's own unit, as the servers do: a number alone is in that unit, an integer may be octal or hexadecimal,
// and a fraction of a unit is rounded to the next smaller unit there is.
func (k Kind) number(value string) (float64, bool) {
	parts := numbers.FindStringSubmatch(value)
	if parts == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	if whole, e := strconv.ParseInt(parts[1], 0, 64); e == nil && k.Type == "integer" {
		n, err = float64(whole), nil
	}
	if err != nil {
		return 0, false
	}
	if parts[2] != "" {
		if n, err = k.convert(n, parts[2]); err != nil {
			return 0, false
		}
	}
	if k.Type == "integer" {
		n = math.RoundToEven(n)
	}
	return n, true
}

// convert brings a number of a unit into the kind's own.
func (k Kind) convert(n float64, name string) (float64, error) {
	for _, units := range [][]unit{memoryUnits, timeUnits} {
		named := func(name string) int { return slices.IndexFunc(units, func(u unit) bool { return u.name == name }) }
		count, own := splitUnit(k.Unit)
		from, to := named(name), named(own)
		if from < 0 || to < 0 {
			continue
		}
		n *= units[from].size
		if from+1 < len(units) {
			smaller := units[from+1].size
			n = math.RoundToEven(n/smaller) * smaller
		}
		return n / (count * units[to].size), nil
	}
	return 0, strconv.ErrSyntax
}

// splitUnit reads a unit that may be several of another, such as 8kB.
func splitUnit(s string) (count float64, name string) {
	digits := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if digits <= 0 {
		return 1, s
	}
	count, _ = strconv.ParseFloat(s[:digits], 64)
	return count, s[digits:]
}
