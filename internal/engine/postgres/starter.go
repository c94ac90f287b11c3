package postgres

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"replab.dev/internal/engine"
)

var (
	_ engine.Starter = Server{}
	_ engine.Alone   = Server{}
)

// aloneName is what a server that runs alone calls its cluster, by which its process is told from a server in its place.
const aloneName = "replab-alone"

// alonePort is in the name of the socket of a server that runs alone, and no port: it listens nowhere else.
const alonePort = 5433

// keepAll is more than any log has, in MB.
const keepAll = "2147483647"

// Initialization implements engine.Starter. Patroni makes the data.
func (Server) Initialization([]string, string, string, func(string) (string, error)) (engine.Initialization, error) {
	return engine.Initialization{}, errors.New("servers of PostgreSQL are made by Patroni: nodes without it cannot be")
}

// Start implements engine.Starter.
func (Server) Start(argv []string, _ engine.StartParams) engine.Start {
	return engine.Start{Argv: inPath(argv)}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(int) bool { return false }

// Alone implements engine.Alone. A server that was a standby runs as one, without a source, and refuses fewer walsenders and connections than
// its primary had: those stay as they are configured. It keeps its log: to take back what only it has, older parts are needed than its own last
// checkpoint. Its socket is in the folder of n.Socket, under the name that AloneSocket says.
func (Server) Alone(argv []string, n engine.StartParams) engine.Start {
	folder := filepath.Dir(n.Socket)
	argv = slices.Clone(argv)
	for _, setting := range []string{
		"listen_addresses=", "unix_socket_directories=" + folder, "port=" + strconv.Itoa(alonePort), "cluster_name=" + aloneName,
		"synchronous_standby_names=", "primary_conninfo=", "primary_slot_name=", "restore_command=", "archive_mode=off", "wal_keep_size=" + keepAll,
		"recovery_target_timeline=current", "autovacuum=off", "default_transaction_read_only=on", "logging_collector=off",
	} {
		argv = append(argv, "-c", setting)
	}
	socket := AloneSocket(folder)
	return engine.Start{Argv: inPath(argv), Remove: []string{socket, socket + ".lock"}}
}

// AloneSocket is the file by which a server that runs alone is reached.
func AloneSocket(folder string) string { return Socket(folder, alonePort) }

// inPath is how to run a program of the server wherever the image has it: a shell finds it, and becomes it.
func inPath(argv []string) []string {
	return append([]string{"sh", "-c", findPrograms + `exec "$@"`, "sh"}, argv...)
}
