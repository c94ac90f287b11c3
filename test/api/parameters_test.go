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
	"replab.dev/internal/engine/postgres"
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

// TestTheAPIRefusesWhatPostgreSQLReservesMostly: the commonest of its list, and nothing that is not in it.
func TestTheAPIRefusesWhatPostgreSQLReservesMostly(t *testing.T) {
	for name, refused := range map[string]bool{
		"fsync": true, "synchronous_commit": true, "full_page_writes": true, "wal_level": true, "zero_damaged_pages": true,
		"synchronous_standby_names": true, "primary_conninfo": true, "primary_slot_name": true, "hot_standby": true, "restore_command": true,
		"max_wal_senders": true, "max_replication_slots": true, "wal_log_hints": true, "archive_mode": true, "recovery_target_time": true,
		"default_transaction_read_only": true, "cluster_name": true, "data_directory": true, "log_directory": true, "config_file": true,
		"hba_file": true, "ident_file": true, "shared_preload_libraries": true, "unix_socket_directories": true, "listen_addresses": true,
		"port": true, "ssl": true, "ssl_cert_file": true, "password_encryption": true, "search_path": true,
		"log_error_verbosity": false, "log_statement": false, "port_x": false, "hot_standby_feedback": false, "sslx": false, "work_mem": false,
		"wal_keep_size": false, "max_wal_size": false, "log_replication_commands": false,
	} {
		if got := refusesParameter(t, "PostgreSQL", name); got != refused {
			t.Errorf("%s is refused with the experiment: %t, want %t", name, got, refused)
		}
		if reserved := len((postgres.Server{}).RefuseParameters(map[string]string{name: "1"})) > 0; reserved != refused {
			t.Errorf("%s is reserved by the engine: %t, want %t as with the experiment", name, reserved, refused)
		}
	}
}

func refusesParameter(t *testing.T, engine, name string) bool {
	t.Helper()
	err := dryRun(t, minimalWith(t, fmt.Sprintf(`{spec: {topology: {engine: %s, parameters: {%s: "1"}}}}`, engine, name)))
	return err != nil && strings.Contains(err.Error(), "topology.parameters["+name+"]")
}
