// Package parameters knows PostgreSQL's settings: which an experiment may not choose, and what their values mean. It is pure: no SQL driver
// comes with it.
package parameters

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1/validation"
)

// Rules of PostgreSQL's settings.
type Rules struct{}

// Default sizes.
const (
	DefaultBuffers = "128MB"
	DefaultLog     = "1GB"
)

// reserved are settings that are not an experiment's to choose by name, for one reason each.
type reserved struct {
	reason  string // what they decide
	instead string // what to do instead
	names   []string
	// prefixes and suffixes reserve every name that begins or ends so.
	prefixes, suffixes []string
}

var reservations = []reserved{
	{
		reason: "what a crash takes", instead: "Set topology.durability",
		names: []string{
			"fsync", "synchronous_commit", "full_page_writes", "wal_level", "data_checksums", "data_sync_retry", "recovery_init_sync_method",
			"zero_damaged_pages", "ignore_checksum_failure", "ignore_invalid_pages", "ignore_system_indexes", "wal_init_zero", "wal_recycle",
		},
	},
	{
		reason: "what is replicated, and how", instead: "Remove it: Patroni sets it by topology.patroni",
		names: []string{
			"synchronous_standby_names", "synchronized_standby_slots", "sync_replication_slots", "primary_conninfo", "primary_slot_name",
			"hot_standby", "restore_command", "promote_trigger_file", "max_wal_senders", "max_replication_slots", "wal_log_hints",
		},
		prefixes: []string{"archive_", "recovery_"},
	},
	{
		reason: "which node takes writes", instead: "Remove it: Patroni promotes one node",
		names: []string{"default_transaction_read_only", "transaction_read_only"},
	},
	{
		reason: "who a node is", instead: "Remove it: replab names the nodes",
		names: []string{"cluster_name"},
	},
	{
		reason:  "where a node keeps its files and what it loads",
		instead: "Set topology.storage or topology.image",
		names: []string{
			"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "logging_collector", "log_directory", "log_filename",
			"log_destination", "stats_temp_directory", "dynamic_library_path", "jit_provider", "default_tablespace", "temp_tablespaces",
			"default_table_access_method", "allow_in_place_tablespaces",
		},
		prefixes: []string{"include", "unix_socket_"},
		suffixes: []string{"_preload_libraries"},
	},
	{
		reason: "how a node is reached", instead: "Remove it: addresses and ports are laid out by replab",
		names:    []string{"listen_addresses", "port", "ssl"},
		prefixes: []string{"ssl_", "bonjour", "krb_", "gss_"},
	},
	{
		reason: "whom a node lets in", instead: "Remove it: replab makes the accounts that it needs",
		names: []string{"password_encryption", "db_user_namespace", "row_security", "session_authorization", "role"},
	},
	{
		reason: "what statements mean, and errors", instead: "Remove it: replab's own rely on it",
		names: []string{"search_path", "standard_conforming_strings", "backslash_quote", "client_encoding", "lc_messages", "session_replication_role"},
	},
}

// Units of sizes: of Kubernetes and of MySQL's family, which the server does not know, and its own.
var (
	otherUnits = regexp.MustCompile(`^([0-9.]+)\s*([kKmMgGtTpPeE][iI]?[bB]?)$`)
	ownUnits   = map[string]string{"K": "kB", "M": "MB", "G": "GB", "T": "TB"}
)

// settingName is the name of a setting of the server itself; those of what it may load have a point in them.
var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// RefuseParameters implements validation.Server.
func (Rules) RefuseParameters(parameters map[string]string) []validation.Refusal {
	var refused []validation.Refusal
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if why := refuse(name, parameters[name]); why != "" {
			refused = append(refused, validation.Refusal{Name: name, Why: why})
		}
	}
	return refused
}

// refuse says why one setting cannot stand, "" when it can.
func refuse(name, value string) string {
	plain := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, r := range reservations {
		begins := func(prefix string) bool { return strings.HasPrefix(plain, prefix) }
		ends := func(suffix string) bool { return strings.HasSuffix(plain, suffix) }
		if slices.Contains(r.names, plain) || slices.ContainsFunc(r.prefixes, begins) || slices.ContainsFunc(r.suffixes, ends) {
			return fmt.Sprintf("%s decides %s. %s.", plain, r.reason, r.instead)
		}
	}
	if !settingName.MatchString(name) {
		return "invalid parameter name. Use lower-case letters, digits and '_', as in shared_buffers."
	}
	if why := refuseValue(value); why != "" {
		return why
	}
	return settings[name].refuse(value)
}

// refuseUnit says why a server would not read a number with a unit of a size. The server's own units are in upper and lower case as it has them.
func refuseUnit(parts []string) string {
	number, name := parts[1], parts[2]
	own := ownUnits[strings.ToUpper(name[:1])]
	switch {
	case name == own:
		return ""
	case name == "m":
		return fmt.Sprintf("PostgreSQL does not know the unit m. Use MB for a size, such as %sMB, or min for a time.", number)
	case own == "":
		return fmt.Sprintf("PostgreSQL does not know the unit %s. Use kB, MB, GB or TB.", name)
	}
	return fmt.Sprintf("PostgreSQL does not know the unit %s. Use kB, MB, GB or TB, such as %s%s.", name, number, own)
}

// refuseValue says why a server would not read a value as it is written.
func refuseValue(value string) string {
	switch {
	case value == "":
		return "the value is empty. Give one, or remove the setting."
	case otherUnits.MatchString(value):
		if why := refuseUnit(otherUnits.FindStringSubmatch(value)); why != "" {
			return why
		}
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the value holds a line break or another control character. Use one line."
	case strings.TrimSpace(value) != value:
		return "the server drops spaces around many a value. Remove them."
	case strings.ContainsAny(value, `'"\`):
		return "a configuration file has quotes and '\\' of its own. Use a value without them."
	case strings.Contains(value, "@"):
		return "what stands between '@' and '@' is filled in on the node. Use a value without one."
	}
	return ""
}

// besideBuffers is what a node needs beside the buffers that its server's processes share, in bytes: those processes, and Patroni.
const besideBuffers = 256 << 20

// Memory implements validation.Server. An invalid size counts as 0: the server refuses it itself.
func (Rules) Memory(parameters map[string]string) validation.Need {
	const setting = "shared_buffers"
	value, ok := parameters[setting]
	if !ok {
		value = DefaultBuffers
	}
	pages, _ := Kind{Unit: "8kB", Type: "integer"}.number(value)
	bytes := min(max(pages*8192, 0), 1<<62)
	return validation.Need{Bytes: int64(bytes) + besideBuffers, Setting: setting}
}

// LogSize implements validation.Server. Log is kept until a checkpoint is through with it, and for standbys.
func (Rules) LogSize(parameters map[string]string) validation.Need {
	need := validation.Need{Setting: "max_wal_size"}
	for _, setting := range []string{"max_wal_size", "wal_keep_size"} {
		value, ok := parameters[setting]
		if !ok && setting == need.Setting {
			value = DefaultLog
		}
		mebibytes, _ := Kind{Unit: "MB", Type: "integer"}.number(value)
		if bytes := int64(min(max(mebibytes*(1<<20), 0), 1<<62)); bytes > need.Bytes {
			need = validation.Need{Bytes: bytes, Setting: setting}
		}
	}
	return need
}

// Reserved are the names, prefixes and suffixes of the settings that are reserved.
func Reserved() (names, prefixes, suffixes []string) {
	for _, r := range reservations {
		names, prefixes, suffixes = slices.Concat(names, r.names), slices.Concat(prefixes, r.prefixes), slices.Concat(suffixes, r.suffixes)
	}
	return names, prefixes, suffixes
}
