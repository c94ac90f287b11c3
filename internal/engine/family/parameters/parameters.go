// Package parameters knows the settings of servers of MySQL's family that an experiment may not choose. It is pure: no SQL driver comes with it.
package parameters

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
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

// What every server of the family reserves. An engine adds its own names, with the other spellings of settings where its server knows
// several.
var (
	ReservedDurability = Reserved{
		Reason: "what a crash takes", Instead: "Set topology.durability",
		Names: []string{
			"innodb-flush-log-at-trx-commit", "innodb-flush-log-at-timeout", "sync-binlog", "sync-relay-log", "sync-relay-log-info",
			"sync-master-info", "innodb-doublewrite", "innodb-flush-method", "innodb-force-recovery", "innodb-checksum-algorithm",
			"tc-heuristic-recover", "default-storage-engine", "innodb-fast-shutdown", "autocommit", "completion-type",
		},
	}
	ReservedSemiSync = Reserved{
		Reason: "how commits wait for replicas", Instead: "Set topology.type SemiSync and topology.semiSync",
		Prefixes: []string{"rpl-semi-sync-"},
	}
	ReservedWriter = Reserved{
		Reason: "which node takes writes", Instead: "Remove it: replab opens one node and fences the others",
		Names: []string{
			"read-only", "innodb-read-only", "transaction-read-only", "event-scheduler", "init-connect", "init-file", "init-slave",
		},
	}
	ReservedReplication = Reserved{
		Reason: "what is replicated, and how", Instead: "Remove it: replication is set up by topology.type",
		Names: []string{
			"log-bin", "log-bin-index", "log-replica-updates", "log-slave-updates", "binlog-format", "binlog-do-db",
			"binlog-ignore-db", "replica-start", "slave-start", "replica-skip-errors", "slave-skip-errors", "replica-exec-mode",
			"slave-exec-mode", "relay-log", "relay-log-index", "relay-log-recovery", "relay-log-purge", "sporadic-binlog-dump-fail",
			"max-binlog-dump-events", "auto-increment-increment", "auto-increment-offset",
		},
		Prefixes: []string{"replicate-"},
	}
	ReservedIdentity = Reserved{
		Reason: "who a node is", Instead: "Remove it: replab numbers the nodes",
		Names: []string{
			"server-id", "report-host", "report-port", "report-user", "report-password",
		},
	}
	ReservedFiles = Reserved{
		Reason: "where a node keeps its files and what it loads", Instead: "Set topology.storage or topology.image",
		Names: []string{
			"basedir", "datadir", "tmpdir", "socket", "pid-file", "plugin-dir", "plugin-load", "plugin-load-add", "secure-file-priv",
			"log-error", "general-log-file", "slow-query-log-file", "character-sets-dir", "lc-messages-dir", "innodb-data-home-dir",
			"innodb-data-file-path", "innodb-log-group-home-dir", "innodb-undo-directory", "innodb-tmpdir",
			"innodb-temp-data-file-path", "innodb-buffer-pool-filename", "replica-load-tmpdir", "slave-load-tmpdir", "log-tc",
			"chroot", "user", "console", "gdb", "help", "verbose", "version",
		},
	}
	// ReservedLog has what could keep a line back that replab reads: of a transfer of data, of a recovered position.
	ReservedLog = Reserved{
		Reason: "what a node tells in its log", Instead: "Remove it: replab reads transfers and recoveries there",
		Names: []string{"log-error-verbosity", "log-error-suppression-list", "log-error-services"},
	}
	ReservedNetwork = Reserved{
		Reason: "how a node is reached", Instead: "Remove it: addresses and ports are laid out by replab",
		Names: []string{
			"bind-address", "port", "networking", "require-secure-transport",
		},
	}
	ReservedAccounts = Reserved{
		Reason: "whom a node lets in", Instead: "Remove it: replab makes the accounts that it needs",
		Names: []string{
			"grant-tables", "default-authentication-plugin", "default-password-lifetime", "disconnect-on-expired-password",
			"local-infile",
		},
	}
)

// With reserves more names for the same reason.
func (r Reserved) With(names ...string) Reserved {
	r.Names = slices.Concat(r.Names, names)
	return r
}

// WithPrefixes reserves also every name that begins so.
func (r Reserved) WithPrefixes(prefixes ...string) Reserved {
	r.Prefixes = slices.Concat(r.Prefixes, prefixes)
	return r
}

const (
	// besidePool is what a server needs beside its buffer pool.
	besidePool = 384 << 20
	poolName   = "innodb_buffer_pool_size"
)

// Memory does as validation.Server's Memory says, for a server whose buffer pool has this size if the parameters name none. A size that
// is none counts as nothing: the server says so itself.
func Memory(parameters map[string]string, pool int64) validation.Need {
	for name, value := range parameters {
		if PlainName(name) == hyphens(poolName) {
			pool = size(value)
		}
	}
	return validation.Need{Bytes: min(pool, math.MaxInt64-besidePool) + besidePool, Setting: poolName}
}

// LogSize does as validation.Server's LogSize says, for a server whose redo log has this size if the parameters have no setting of this name.
func LogSize(parameters map[string]string, setting string, log int64) validation.Need {
	for name, value := range parameters {
		if PlainName(name) == hyphens(setting) {
			log = size(value)
		}
	}
	return validation.Need{Bytes: log, Setting: setting}
}

// size reads bytes as the servers do: a number, and a letter of either case for a power of 1024. What follows it they do not read.
func size(value string) int64 {
	value = strings.TrimPrefix(strings.TrimSpace(value), "+")
	digits := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	power := 0
	if digits < 0 {
		digits = len(value)
	} else {
		power = 1 + strings.IndexByte("kmgtpe", value[digits]|0x20)
	}
	n, err := strconv.ParseInt(value[:digits], 10, 64)
	if err != nil {
		if digits > 0 {
			return math.MaxInt64 // more than a number can say
		}
		return 0
	}
	for range power {
		if n > math.MaxInt64>>10 {
			return math.MaxInt64
		}
		n <<= 10
	}
	return n
}
