package parameters

import (
	_ "embed" // for the list of settings
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed settings.txt
var list string

// settings of a server, by their names.
var settings = parse(list)

// setting is what a server says of one: its kind, and the least that it takes in the kind's unit.
type setting struct {
	Kind
	least float64
}

// parse a list of settings: name, type, unit and least value a line, and comments after '#'.
func parse(text string) map[string]setting {
	all := map[string]setting{}
	for line := range strings.Lines(text) {
		fields := append(strings.Fields(line), "", "", "")
		if fields[0] == "" || fields[0] == "#" {
			continue
		}
		least, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			least = math.Inf(-1)
		}
		all[strings.ToLower(fields[0])] = setting{Kind{Unit: strings.TrimPrefix(fields[2], "-"), Type: fields[1]}, least}
	}
	return all
}

// Knows implements validation.Server.
func (Rules) Knows(name string) bool {
	_, ok := settings[strings.ReplaceAll(strings.ToLower(name), "-", "_")]
	return ok
}

// refuse says why a server would not take a number.
func (s setting) refuse(value string) string {
	if s.Type != "integer" && s.Type != "real" {
		return ""
	}
	_, own := splitUnit(s.Unit)
	n, ok := s.number(value)
	named := func(u unit) bool { return u.name == own }
	switch {
	case ok && n < s.least:
		return fmt.Sprintf("PostgreSQL takes at least %s. Raise it, or remove the setting.", s.amount())
	case ok:
		return ""
	case slices.ContainsFunc(memoryUnits, named):
		return "PostgreSQL takes a size here. Use a number and kB, MB, GB or TB, such as 64MB."
	case slices.ContainsFunc(timeUnits, named):
		return "PostgreSQL takes a time here. Use a number and ms, s, min, h or d, such as 5min."
	}
	return "PostgreSQL takes a number without a unit here. Use digits, such as 100."
}

// amount is the least value with its unit, as people write it.
func (s setting) amount() string {
	count, unit := splitUnit(s.Unit)
	return strconv.FormatFloat(s.least*count, 'f', -1, 64) + unit
}
