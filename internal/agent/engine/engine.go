// Package engine holds what differs between database servers as the agent and the start wrapper see them: how one is
// made, started, recognised, asked and fenced. A server that replab does not know yet is a new file here and a line in
// engines.
package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Engine is one kind of database server.
type Engine interface {
	// IsServer tells from a process's arguments whether it is the server that was started as argv, and not one that
	// makes a data directory or does another chore under the same name.
	IsServer(argv, process []string) bool

	// InitScript returns the statements that give an empty server its accounts and tables; it holds secrets.
	InitScript(password func(account string) (string, error)) (string, error)
	// InitArgs are the arguments that make a data directory at dataDir and run the script in a file.
	InitArgs(argv []string, dataDir, scriptFile string) []string
	// RunArgs are the arguments that start the server on the node with this ordinal.
	RunArgs(argv []string, ordinal int) []string
	// RunEnv are environment variables that the server needs beside its own.
	RunEnv(wrapperPID int) []string
	// WantsRestart tells whether the server ended with this code because it wants to be started again at once.
	WantsRestart(exitCode int) bool
	// Leftovers are files that a killed server leaves behind beside its data, and that must go before the next start.
	Leftovers(socket string) []string

	// Client returns a client that asks the server on a unix socket as the administrator. It connects when it is used.
	Client(socket, password string) (Client, error)
}

// Client asks and commands a running server. Its methods may be called at once by several goroutines; each returns an
// error when the context ends before the server has answered.
type Client interface {
	// Status is what the server says of itself.
	Status(context.Context) (Status, error)
	// Replication is what the server says of its replication as a replica.
	Replication(context.Context) (Replication, error)
	// Fence makes the server read-only for everybody and ends the connections of the app's account, so that nothing
	// they have under way is acknowledged. It may be repeated.
	Fence(context.Context) error
	// Close ends the client's connections.
	Close() error
}

// Status of a server that answers.
type Status struct {
	Writable     bool // accounts without special privileges can write
	ServerUUID   string
	GTIDExecuted string
}

// Replication of a server that answers; the zero value is of one that is no replica.
type Replication struct {
	SourceHost    string
	IORunning     bool
	SQLRunning    bool
	GTIDRetrieved string
	LastError     string
}

var engines = map[string]Engine{
	"MySQL": mySQL{},
}

// ByName returns the engine that a configuration names.
func ByName(name string) (Engine, error) {
	if e, ok := engines[name]; ok {
		return e, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(engines)), ", ")
	return nil, fmt.Errorf("engine %q is not one that the agent knows; set \"engine\" in its configuration to one of: %s", name, known)
}
