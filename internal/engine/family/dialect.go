// Package family is what the servers that descend from MySQL share: one protocol, one driver, and most of the SQL. Each engine of
// the family says in a folder of its own what differs.
package family

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Dialect is what an engine of the family says in its own words where the shape is the same.
type Dialect struct {
	// Server is the program, the stem of its files, and its section of the configuration.
	Server string
	// ConfigFile is the name of its configuration file.
	ConfigFile string
	Lines      ConfigLists
	Settings   ExpectedLists
	Acts       Acts
	Lag        LagWords
	Reader     ReaderWords
}

// ConfigLists are lines of a configuration.
type ConfigLists struct {
	First, Network, More []string
	// Replicating are of servers that form no group: at the beginning, and NoGroup at the end.
	Replicating, NoGroup []string
	Sizes                []string // of memory and logs
	SemiSync             func(engine.SemiSync) []string
	Group                func(g engine.Group, runDir string) []string
	Pair                 func(engine.Pair) []string
}

// ExpectedLists are settings that servers report.
type ExpectedLists struct {
	Replicating []wire.Setting // of servers that form no group
	SemiSync    func(engine.SemiSync) []wire.Setting
	Group       func(engine.Group) []wire.Setting
	// MembersLog: members of a group keep a binary log.
	MembersLog bool
	// Pair changes settings of Replicating. One without a value differs between the two servers.
	Pair func(engine.Pair) []wire.Setting
}

// Program is engine.Server's. It has no port for copies.
func (d *Dialect) Program(place engine.Place, s engine.Settings) engine.Program {
	socket := place.RunDir + "/" + d.Server + ".sock"
	return engine.Program{
		Argv: []string{d.Server, "--defaults-file=" + place.ConfigDir + "/" + d.ConfigFile}, Process: d.Server, Socket: socket,
		ConfigFile: d.ConfigFile, Config: d.config(place, socket, s),
	}
}

// config renders the configuration file, without the server id: the start wrapper passes that as an argument. Each node boots read-only, with
// replication stopped. Sizes are for small nodes that share a machine; parameters come last and so win.
func (d *Dialect) config(place engine.Place, socket string, s engine.Settings) string {
	flush := Durabilities[s.Durability]
	lines := slices.Concat([]string{"[" + d.Server + "]"}, d.Lines.First, []string{
		"datadir=" + place.DataDir,
		"socket=" + socket,
		"tmpdir=" + place.TmpDir,
		"pid-file=" + place.RunDir + "/" + d.Server + ".pid",
		fmt.Sprintf("port=%d", place.Port),
	}, d.Lines.Network, []string{"skip-name-resolve=ON"})
	if s.Group == nil {
		lines = append(lines, d.Lines.Replicating...)
	}
	lines = append(lines, "innodb-flush-log-at-trx-commit="+flush.FlushAtCommit, "sync-binlog="+flush.SyncBinlog)
	lines = slices.Concat(lines, d.Lines.Sizes, []string{"innodb-log-buffer-size=8388608", "max-connections=500", "local-infile=ON"}, d.Lines.More)
	if s.Group == nil {
		lines = append(lines, d.Lines.NoGroup...)
	} else {
		lines = append(lines, d.Lines.Group(*s.Group, place.RunDir)...)
	}
	if s.SemiSync != nil {
		lines = append(lines, d.Lines.SemiSync(*s.SemiSync)...)
	}
	if s.Pair != nil {
		lines = append(append(lines, fmt.Sprintf("auto-increment-increment=%d", writersOfPair)), d.Lines.Pair(*s.Pair)...)
	}
	return strings.Join(append(lines, ConfigLines(s.Parameters)...), "\n") + "\n"
}

// Expected is engine.Server's. What depends on a node's role is not in it.
func (d *Dialect) Expected(s engine.Settings) []wire.Setting {
	flush := Durabilities[s.Durability]
	flushed := []wire.Setting{{Name: "innodb_flush_log_at_trx_commit", Value: flush.FlushAtCommit}}
	if s.Group == nil || d.Settings.MembersLog {
		flushed = append(flushed, wire.Setting{Name: "sync_binlog", Value: flush.SyncBinlog})
	}
	var list []wire.Setting
	if s.Group != nil {
		list = slices.Concat(Relied(), flushed, d.Settings.Group(*s.Group))
	} else {
		list = append(Relied(d.Settings.Replicating...), flushed...)
	}
	if s.Group == nil && s.SemiSync != nil {
		list = append(list, d.Settings.SemiSync(*s.SemiSync)...)
	}
	if s.Pair != nil {
		list = append(changed(list, d.Settings.Pair(*s.Pair)), wire.Setting{Name: "auto_increment_increment", Value: strconv.Itoa(writersOfPair)})
	}
	return append(list, Parameters(s.Parameters)...)
}

// changed are the settings with other values. One without a value is left out.
func changed(list, by []wire.Setting) []wire.Setting {
	for _, b := range by {
		i := slices.IndexFunc(list, func(s wire.Setting) bool { return s.Name == b.Name })
		if b.Value == "" {
			list = slices.Delete(list, i, i+1)
		} else {
			list[i].Value = b.Value
		}
	}
	return list
}

// OnOff is how the servers write a switch.
func OnOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// writersOfPair is the step between the ids that one server of a pair gives to rows. The other server gives the ids between them.
const writersOfPair = 2

// PairArguments are what a server of a pair is started with, and no other server.
func PairArguments(ordinal int) []string {
	return []string{fmt.Sprintf("--auto-increment-offset=%d", ordinal+1)}
}

// Durability is a pair of settings: how the redo log and the binary log reach the disk.
type Durability struct{ FlushAtCommit, SyncBinlog string }

// Durabilities by name; the zero durability is Full. The binary log has no level of its own for Volatile: it is handed to
// the system at each commit, so that a server that was killed may know transactions by name whose rows it has lost.
var Durabilities = map[engine.Durability]Durability{
	"":              {"1", "1"},
	engine.Full:     {"1", "1"},
	engine.Relaxed:  {"2", "0"},
	engine.Volatile: {"0", "0"},
}

// WaitPoint is when a commit waits for replicas, as the servers call it.
func WaitPoint(s engine.SemiSync) string {
	if s.AfterCommit {
		return "AFTER_COMMIT"
	}
	return "AFTER_SYNC"
}

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
		// Some settings are options of the start alone, which are no variables.
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

// Started reports whether a process is the server that was started as argv: it has all its arguments, and no argument of a chore, such as
// making a data directory.
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

// Grant is what an account may do: what stands between GRANT and TO.
type Grant struct{ Account, Rights string }

// grants are what each account may do on every server of the family.
var grants = []Grant{
	{Account: wire.AccountAdmin, Rights: "ALL ON *.*"},
	{Account: wire.AccountReplication, Rights: "REPLICATION SLAVE ON *.*"},
	{Account: wire.AccountApp, Rights: "ALL ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "SELECT ON " + wire.Database + ".*"},
	{Account: wire.AccountProbe, Rights: "INSERT ON " + wire.Database + "." + wire.ProbeTable},
}

// FirstStatements are what an engine adds to those that give an empty server its accounts and the app's tables.
type FirstStatements struct {
	Before, After []string // whole statements
	Grants        []Grant  // beside those that every server of the family has
}

// Script has one statement a line. They run once, while the data directory is made, and stay out of the binary log: every node has
// them of its own, so none is replicated. password is asked for each account; the result holds secrets.
func (f FirstStatements) Script(password func(account string) (string, error)) (string, error) {
	lines := append(slices.Clone(f.Before), "SET sql_log_bin=0;", "CREATE DATABASE "+wire.Database+" CHARACTER SET utf8mb4;", "USE "+wire.Database+";")
	for _, table := range schema {
		lines = append(lines, strings.ReplaceAll(table, "\n", " ")+";")
	}
	for _, account := range wire.Accounts() {
		secret, err := password(account)
		if err != nil {
			return "", fmt.Errorf("password of account %s: %w", account, err)
		}
		lines = append(lines, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s';", account, quote(secret)))
	}
	for _, g := range slices.Concat(grants, f.Grants) {
		lines = append(lines, fmt.Sprintf("GRANT %s TO '%s'@'%%';", g.Rights, g.Account))
	}
	return strings.Join(append(lines, f.After...), "\n") + "\n", nil
}

func quote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

// schema creates the app's tables; every node makes them itself when its data directory is made. users.id counts on from the seeded
// rows. write_id is the ledger's id, NULL for seeded rows; its index lets the audit read ids alone. probe_writes takes one row per probe.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS users (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  write_id BIGINT UNSIGNED NULL,
  first_name VARCHAR(256) NOT NULL,
  last_name VARCHAR(256) NOT NULL,
  birthdate DATE NULL,
  biography VARCHAR(1024) NOT NULL DEFAULT '',
  city VARCHAR(256) NOT NULL DEFAULT '',
  password VARCHAR(100) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY write_id (write_id),
  KEY name (last_name(32), first_name(32))
) CHARACTER SET utf8mb4`,
	`CREATE TABLE IF NOT EXISTS probe_writes (
  id BIGINT UNSIGNED NOT NULL,
  payload VARBINARY(65000) NOT NULL,
  PRIMARY KEY (id)
)`,
}
