package family

import (
	"maps"
	"slices"
	"strings"

	"replab.dev/internal/wire"
)

// relied are settings that every experiment relies on.
var relied = []wire.Setting{
	{Name: "autocommit", Value: "ON"},
	{Name: "binlog_format", Value: "ROW"},
	{Name: "default_storage_engine", Value: "InnoDB"},
	{Name: "init_connect", Value: ""},
	{Name: "innodb_doublewrite", Value: "ON"},
	{Name: "innodb_flush_log_at_timeout", Value: "1"},
	{Name: "innodb_force_recovery", Value: "0"},
}

// Relied are the settings that every experiment relies on, with an engine's own, by name.
func Relied(own ...wire.Setting) []wire.Setting {
	return slices.SortedFunc(slices.Values(slices.Concat(relied, own)), func(a, b wire.Setting) int { return strings.Compare(a.Name, b.Name) })
}

// Parameters are the settings that every server reports when its configuration file has an experiment's parameters.
func Parameters(parameters map[string]string) []wire.Setting {
	var list []wire.Setting
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		// Some settings are options of the start alone, which no variable tells of.
		list = append(list, wire.Setting{Name: strings.ReplaceAll(name, "-", "_"), Value: parameters[name], MayLack: true})
	}
	return list
}

// ConfigLines are the lines of an experiment's parameters in a configuration file. The last of two lines wins, so they come last.
func ConfigLines(parameters map[string]string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		lines = append(lines, name+"="+parameters[name])
	}
	return lines
}

// Started tells that a process is the server that was started as argv: it has all its arguments, and none that begins like one
// of a chore's, under which the same program makes a data directory or looks into one.
func Started(argv, process []string, chores ...string) bool {
	for _, argument := range argv[1:] {
		if !slices.Contains(process, argument) {
			return false
		}
	}
	return !slices.ContainsFunc(process, func(argument string) bool {
		return slices.ContainsFunc(chores, func(chore string) bool { return strings.HasPrefix(argument, chore) })
	})
}
