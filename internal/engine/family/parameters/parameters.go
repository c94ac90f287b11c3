// Package parameters knows the settings of servers of MySQL's family that an experiment may not choose. It is pure: no SQL driver comes with it.
package parameters

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1/validation"
)

// Reserved are settings that are not an experiment's to choose by name, for one reason each. The names are plain: see PlainName.
type Reserved struct {
	Reason  string // what they decide
	Instead string // what to do instead
	Names   []string
	// Prefixes reserve every name that begins so.
	Prefixes []string
}

// Reservations are all that one engine reserves.
type Reservations []Reserved

// settingName is a name that a configuration file can hold. The server knows names in lower case only.
var settingName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// namePrefixes change what the name after them means. The server reads several of them at once, such as loose-skip-.
var namePrefixes = []string{"loose-", "skip-", "disable-", "enable-", "maximum-"}

// prefixedNames are names of settings that begin like a prefix and are whole, of any server of the family.
var prefixedNames = []string{
	"enable-cascade-triggers", "enable-secondary-engine-statistics", "skip-external-locking", "skip-name-resolve", "skip-show-database",
}

// Refuse does as validation.Server's RefuseParameters says.
func (r Reservations) Refuse(parameters map[string]string, known Settings) []validation.Refusal {
	var refused []validation.Refusal
	spelled := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		why := r.refuse(name, parameters[name], known)
		plain := PlainName(name)
		if other, twice := spelled[plain]; twice && why == "" {
			why = fmt.Sprintf("%s is the same setting. Remove one of them.", other)
		}
		spelled[plain] = name
		if why != "" {
			refused = append(refused, validation.Refusal{Name: name, Why: why})
		}
	}
	return refused
}

// refuse says why one setting cannot stand, "" when it can.
func (r Reservations) refuse(name, value string, known Settings) string {
	plain := PlainName(name)
	if reserved := r.Find(plain); reserved != nil {
		return fmt.Sprintf("%s decides %s. %s.", plain, reserved.Reason, reserved.Instead)
	}
	switch {
	case !settingName.MatchString(name):
		return "invalid parameter name. Use lower-case letters, digits, '_' and '-', as in innodb_buffer_pool_size."
	case plain != hyphens(name):
		return fmt.Sprintf("a prefix changes what the name means. Name the setting %s itself, with its value.", plain)
	}
	if why := refuseValue(value); why != "" {
		return why
	}
	return known[plain].refuse(value)
}

// otherUnits are those of Kubernetes and of PostgreSQL, which the servers do not know.
var otherUnits = regexp.MustCompile(`(?i)^([0-9.]+)\s*([KMGTPE]iB?|[KMGTPE]B)$`)

// refuseValue says why the server would read another value from its configuration file than this one.
func refuseValue(value string) string {
	switch {
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the value holds a line break or another control character. Use one line."
	case otherUnits.MatchString(value):
		parts := otherUnits.FindStringSubmatch(value)
		return fmt.Sprintf("the server does not know the unit %s. Use K, M, G or T, such as %s%s.", parts[2], parts[1], strings.ToUpper(parts[2][:1]))
	case strings.TrimSpace(value) != value:
		return "the server drops spaces around a value. Remove them."
	case strings.Contains(value, "#"):
		return "the server takes what follows a '#' for a comment. Use a value without one."
	case strings.Contains(value, `\`):
		return `the server takes '\' and the letter after it for one character. Use a value without one.`
	case strings.HasPrefix(value, `"`), strings.HasPrefix(value, `'`):
		return "the server takes the quotes around a value away. Remove them."
	}
	return ""
}

// hyphens is how the server spells a name: to it '_' and '-' are the same.
func hyphens(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// PlainName is the setting that a name is about, without prefixes.
func PlainName(name string) string {
	plain := hyphens(name)
	for !slices.Contains(prefixedNames, plain) {
		i := slices.IndexFunc(namePrefixes, func(p string) bool { return strings.HasPrefix(plain, p) })
		if i < 0 {
			break
		}
		plain = strings.TrimPrefix(plain, namePrefixes[i])
	}
	return plain
}

// Find finds out why a setting is reserved, by its plain name; nil when it is not.
func (r Reservations) Find(plain string) *Reserved {
	for i, reserved := range r {
		begins := func(prefix string) bool { return strings.HasPrefix(plain, prefix) }
		if slices.Contains(reserved.Names, plain) || slices.ContainsFunc(reserved.Prefixes, begins) {
			return &r[i]
		}
	}
	return nil
}
