// Package postgres is what a PostgreSQL server is: its configuration, its accounts and its statements. It is PostgreSQL 14 and later, run
// by Patroni.
package postgres

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres/parameters"
	"replab.dev/internal/wire"
)

// Server implements engine.Server.
type Server struct{ parameters.Rules }

// Port is where a server listens for clients, unless it is given another one.
const Port = 5432

// Port implements engine.Server.
func (Server) Port() int { return Port }

// Program implements engine.Server. The configuration is that of Patroni, which makes the server's own: s.Manager must be there.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	return engine.Program{
		Argv: []string{"postgres", "-D", place.DataDir}, Process: "postgres", Socket: Socket(place.RunDir, place.Port),
		ConfigFile: patroniFile, Config: patroniConfig(place, s),
		Manager: &engine.ManagerProgram{
			Argv: []string{"patroni", place.RunDir + "/" + patroniFile}, Process: "patroni", URL: fmt.Sprintf("http://127.0.0.1:%d", restPort),
		},
	}
}

// Kind is what a server says of a setting's values.
type Kind = parameters.Kind

// base are settings that every server has unless the parameters of an experiment say otherwise, which may name some of them. Sizes are for
// small nodes that share a machine.
var base = map[string]string{
	"full_page_writes":      "on",
	"jit":                   "off", // the statements are small: compiling them takes longer than running them
	"lc_messages":           "C",   // messages are looked at for words
	"log_min_messages":      "warning",
	"max_connections":       "500",
	"max_replication_slots": "10",
	"max_wal_senders":       "10",
	"max_wal_size":          parameters.DefaultLog,
	"min_wal_size":          "80MB",
	"password_encryption":   "scram-sha-256",
	"shared_buffers":        parameters.DefaultBuffers,
	"wal_level":             "replica",
	"wal_log_hints":         "on",
}

// Parameters are what the servers of an experiment are configured with by name, the same on every node.
func Parameters(s engine.Settings) map[string]string {
	all := maps.Clone(base)
	d := durabilities[s.Durability]
	all["synchronous_commit"], all["fsync"] = d.synchronousCommit, d.fsync
	maps.Copy(all, s.Parameters)
	return all
}

// OwnParameters are a node's own: its name and the folder of its socket.
func OwnParameters(node, runDir string) map[string]string {
	return map[string]string{NodeSetting: node, "unix_socket_directories": runDir}
}

// AccessRules are the lines of pg_hba.conf; replicates is the account that replicas take the log with, "all" where that is anybody's. The socket
// lies where only the server and its agent look, so every local user is trusted.
func AccessRules(replicates string) []string {
	return []string{
		"local all all trust",
		"host replication " + replicates + " all scram-sha-256",
		"host all all all scram-sha-256",
	}
}

// InitOption is what a data directory is made with; Value is "" for one that is a switch.
type InitOption struct{ Name, Value string }

// InitOptions are those of every data directory.
func InitOptions() []InitOption {
	return []InitOption{{"data-checksums", ""}, {"encoding", "UTF8"}, {"locale", "C.UTF-8"}, {"auth-local", "trust"}, {"auth-host", "scram-sha-256"}}
}

// Socket is the file by which a server is reached in a folder: the server itself names it after its port.
func Socket(runDir string, port int) string {
	return filepath.Join(runDir, ".s.PGSQL."+strconv.Itoa(port))
}

// durability is how commits reach the disk.
type durability struct{ synchronousCommit, fsync string }

// durabilities by name; the zero durability is Full. Relaxed hands a commit to the system before the acknowledgement. With Volatile the WAL writer
// does so within three times wal_writer_delay (200 ms by default), and no commit waits for a standby.
var durabilities = map[engine.Durability]durability{
	"":              {synchronousCommit: "on", fsync: "on"},
	engine.Full:     {synchronousCommit: "on", fsync: "on"},
	engine.Relaxed:  {synchronousCommit: "on", fsync: "off"},
	engine.Volatile: {synchronousCommit: "off", fsync: "on"},
}

// relied are settings that every experiment relies on, whatever it says of them: those of durability are RefuseParameters' to keep.
var relied = []string{
	"autovacuum", "data_checksums", "fsync", "full_page_writes", "hot_standby", "max_connections", "shared_buffers", "synchronous_commit",
	"wal_level", "wal_log_hints",
}

// stated are settings that affect figures and have a default.
var stated = []string{
	"checkpoint_timeout", "commit_delay", "max_wal_size", "recovery_min_apply_delay", "server_encoding", "wal_buffers", "wal_keep_size",
	"wal_receiver_timeout", "wal_sync_method",
}

// Expected implements engine.Server. synchronous_standby_names is not in it: Patroni changes it.
func (Server) Expected(s engine.Settings) []wire.Setting {
	all := Parameters(s)
	all["autovacuum"], all["data_checksums"], all["hot_standby"] = "on", "on", "on"
	maps.Copy(all, s.Parameters)
	values := map[string]wire.Setting{}
	for _, name := range stated {
		values[name] = wire.Setting{Name: name, AnyValue: true}
	}
	for _, name := range slices.Concat(relied, slices.Collect(maps.Keys(s.Parameters))) {
		values[name] = wire.Setting{Name: name, Value: all[name]}
	}
	var list []wire.Setting
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, values[name])
	}
	return list
}

// tables are the app's; the accounts own or see them. users.id counts on from the seeded rows. write_id is the ledger's id, NULL for seeded
// rows; its index lets the audit read ids alone. probe_writes takes one row per probe.
const tables = `CREATE TABLE users (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  write_id bigint CHECK (write_id >= 0),
  first_name varchar(256) NOT NULL,
  last_name varchar(256) NOT NULL,
  birthdate date,
  biography varchar(1024) NOT NULL DEFAULT '',
  city varchar(256) NOT NULL DEFAULT '',
  password varchar(100) NOT NULL
);
CREATE UNIQUE INDEX users_write_id ON users (write_id);
CREATE INDEX users_name ON users (last_name text_pattern_ops, first_name text_pattern_ops);
CREATE TABLE probe_writes (
  id bigint PRIMARY KEY,
  payload bytea NOT NULL
);
`

// nodeFunction tells which node a session is on: a server knows no host name, and all servers of one cluster have the same identifier. The
// file is for nodes that cannot have a setting of their own.
const nodeFunction = `CREATE FUNCTION replab_node() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
  AS $$ SELECT coalesce(nullif(current_setting('` + NodeSetting + `', true), ''), trim(E' \n' FROM pg_read_file('/etc/hostname'))) $$;
`

// NodeSetting is the setting that names a server's node.
const NodeSetting = "replab.node"

// quietly keeps the statements of a session, which have passwords in them, out of the server's log and of its list of statements, whatever the
// server's own settings are. What is not loaded may be set as well.
const quietly = `SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_duration_sample = -1;
SET log_transaction_sample_rate = 0;
SET log_min_error_statement = panic;
SET debug_print_parse = off;
SET debug_print_rewritten = off;
SET debug_print_plan = off;
SET pg_stat_statements.track_utility = off;
`

// FirstStatements make a new server's accounts, but for the administrator's and the replicas', and the app's tables. They are for psql, as the
// administrator. password is asked for each account; the result holds secrets.
func FirstStatements(password func(account string) (string, error)) (string, error) {
	server, database, err := firstStatements(password)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(quietly)
	for _, p := range server {
		b.WriteString(p.statements)
	}
	fmt.Fprintf(&b, "\\connect %s\n%s", wire.Database, database.statements)
	return b.String(), nil
}

// part of the first statements. there is a query that has a row once they were run; a server runs them whole or not at all.
type part struct{ what, there, statements string }

// firstStatements are those for the server, in their order, and then those for the app's database.
func firstStatements(password func(account string) (string, error)) (server []part, database part, err error) {
	for _, account := range []string{wire.AccountApp, wire.AccountProbe, wire.AccountMonitor} {
		secret, err := password(account)
		if err != nil {
			return nil, part{}, fmt.Errorf("password of account %s: %w", account, err)
		}
		made := fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD %s;\n", account, quote(secret))
		if account == wire.AccountProbe {
			made += fmt.Sprintf("GRANT pg_monitor TO %s;\n", account)
		}
		server = append(server, part{"account " + account, "SELECT 1 FROM pg_roles WHERE rolname = " + quote(account), made})
	}
	server = append(server, part{
		"database " + wire.Database, "SELECT 1 FROM pg_database WHERE datname = " + quote(wire.Database),
		// Names are in the same order on every system, whatever its version of the C library.
		fmt.Sprintf("CREATE DATABASE %s OWNER %s ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8' TEMPLATE template0;\n", wire.Database, wire.AccountApp),
	})
	grants := fmt.Sprintf("GRANT SELECT ON %s, %s TO %s;\nGRANT INSERT ON %s TO %s;\nRESET ROLE;\n", wire.UsersTable, wire.ProbeTable, wire.AccountProbe,
		wire.ProbeTable, wire.AccountProbe)
	return server, part{
		"the app's tables", "SELECT 1 FROM pg_tables WHERE tablename = " + quote(wire.UsersTable),
		fmt.Sprintf("SET ROLE %s;\n%s", wire.AccountApp, tables) + grants + nodeFunction,
	}, nil
}

// quote is a text as SQL writes it, with the server's own default of standard_conforming_strings.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
