package postgres

import (
	"maps"
	"path/filepath"
	"strconv"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres/parameters"
)

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
// lies where the server and its agent alone look, so whoever reaches it may be anybody.
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
