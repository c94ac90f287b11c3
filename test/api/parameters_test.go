package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
)

// reserving is a server that says which settings are not an experiment's to choose.
type reserving interface {
	Reserved() family.Reservations
	RefuseParameters(parameters map[string]string) []string
}

var engines = map[string]reserving{"MySQL": mysql.Server{}, "MariaDB": mariadb.Server{}}

// TestReservedPrefixesAreRefusedWithTheExperiment: what an engine reserves by the beginning of its name is refused by the API already.
func TestReservedPrefixesAreRefusedWithTheExperiment(t *testing.T) {
	for engine, server := range engines {
		for _, reserved := range server.Reserved() {
			for _, prefix := range reserved.Prefixes {
				if !refusesParameter(t, engine, prefix+"x") || !refusesParameter(t, engine, strings.ReplaceAll(prefix, "-", "_")+"x") {
					t.Errorf("%s%s is not refused with the experiment: add the prefix to the rule of topology.parameters", prefix, "x of "+engine)
				}
			}
		}
	}
}

// TestTheAPIRefusesNoParameterThatTheEngineTakes: the engines' lists are what is refused, and the API's rules are of them.
func TestTheAPIRefusesNoParameterThatTheEngineTakes(t *testing.T) {
	words := regexp.MustCompile(`[a-z][a-z-]{2,}[a-z-]`)
	var names []string
	for _, r := range allRules(t) {
		if strings.HasPrefix(r.path, "spec.topology") && strings.HasPrefix(r.message, "topology.parameters[]") {
			names = append(names, words.FindAllString(r.rule, -1)...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	refused := 0
	for engine, server := range engines {
		for _, name := range names {
			for _, n := range []string{name, name + "x"} { // a name, or the beginning of some
				if !refusesParameter(t, engine, n) {
					continue
				}
				refused++
				if len(server.RefuseParameters(map[string]string{n: "1"})) == 0 {
					t.Errorf("%s is refused with the experiment, and %s does not reserve it: add it to the reservations, or take it out of the rule", n, engine)
				}
			}
		}
	}
	if refused < 60 {
		t.Errorf("%d names are refused: the rules' names were not found", refused)
	}
}

func refusesParameter(t *testing.T, engine, name string) bool {
	t.Helper()
	err := dryRun(t, experiment(t, fmt.Sprintf(`{spec: {topology: {engine: %s, parameters: {%s: "1"}}}}`, engine, name)))
	return err != nil && strings.Contains(err.Error(), "topology.parameters["+name+"]")
}
