// Package engine is a database server in small roles. Each engine implements them in a folder of its own, the only ones that import an SQL driver.
// A process that queries a server declares the interface for it; the values that they exchange are here.
package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/wire"
)

// Lookup is one role of every engine, by the engine's name in spec.topology.engine and in the processes' configuration.
type Lookup[Role any] map[string]Role

// For returns the role of the engine with this name.
func (l Lookup[Role]) For(name string) (Role, error) {
	if role, ok := l[name]; ok {
		return role, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(l)), ", ")
	var none Role
	return none, fmt.Errorf("engine %q is not one that this version knows: use one of: %s", name, known)
}

// Server is what a server is before it runs. It performs no IO.
type Server interface {
	// Server says what servers make of the experiment's parameters.
	validation.Server
	// Port is where the servers of an experiment listen for clients.
	Port() int
	// Program is what to run for a server in its place, with these settings. It boots closed and with its replication stopped.
	Program(Place, Settings) Program
	// Expected are the settings that every server reports when it runs as Program says.
	Expected(Settings) []wire.Setting
}

// Place is where a server finds and keeps its things, by the paths inside its container.
type Place struct {
	ConfigDir string // of its configuration file
	DataDir   string
	RunDir    string // of the socket
	TmpDir    string
	Port      int
}

// Settings are what an experiment says of its servers.
type Settings struct {
	Durability Durability
	// SemiSync is nil for asynchronous replication.
	SemiSync *SemiSync
	// Group is nil for servers that form no group. Members boot open: the proxy or the client chooses the writer.
	Group *Group
	// Pair is nil but for two servers that both take writes.
	Pair *Pair
	// Manager is nil for servers that their start wrapper runs.
	Manager    *Manager
	Parameters map[string]string // as spec.topology.parameters
}

// Durability is what a crash takes of commits that were acknowledged.
type Durability string

// Durabilities.
const (
	Full     Durability = "Full"     // flushed at each commit: nothing
	Relaxed  Durability = "Relaxed"  // handed to the system at each commit, flushed about once a second: nothing when the process is killed
	Volatile Durability = "Volatile" // in the server's memory for up to a second: that second
)

// SemiSync is how commits wait for replicas.
type SemiSync struct {
	AckReplicas         int
	TimeoutMilliseconds int64
	// AfterCommit waits when the commit is visible to others already, instead of before.
	AfterCommit bool
}

// Pair are the settings of two servers that replicate from each other and both take writes.
type Pair struct {
	// LogReplicaUpdates has each server write to its own log what it replicates. The other server then receives its own changes again.
	LogReplicaUpdates bool
}

// Program is a server's command line and what belongs to it.
type Program struct {
	Argv       []string
	Process    string // the name of its process
	Socket     string
	ConfigFile string          // the name of the file in Place.ConfigDir
	Config     string          // what is in it
	Manager    *ManagerProgram // nil where the server is started without one: then the file is the server's
	CopyPort   int             // where the start wrapper gives copies of the data to other nodes; 0 where servers copy by themselves
}

// Starter is how the start wrapper makes and runs a server. It performs no IO.
type Starter interface {
	// Initialization is how to make a data directory with the accounts and the app's tables. Its script lies in a file while
	// the server reads it, and holds secrets.
	Initialization(argv []string, dataDir, scriptFile string, password func(account string) (string, error)) (Initialization, error)
	// Start is how to start the server on a node.
	Start(argv []string, n StartParams) Start
	// WantsRestart reports whether the server ended with this code because it wants to be started again at once.
	WantsRestart(exitCode int) bool
}

// Initialization makes a data directory: Argv, after Script was written.
type Initialization struct {
	Argv   []string
	Script string
}

// StartParams are what differs between nodes and starts.
type StartParams struct {
	Ordinal int // of the node
	// Identity is random and made with the data directory: other data have another one. 0 where the data have no identity.
	Identity   uint32
	Socket     string
	WrapperPID int
	// Pair: another server takes writes too. Numbers that servers give to rows and to transactions must differ.
	Pair bool
}

// Start of a server.
type Start struct {
	Argv   []string
	Env    []string // beside the wrapper's own
	Remove []string // files that a killed server leaves behind, and that must go before
	// DataFiles are written into the data directory before.
	DataFiles []PrivateFile
}

// Copier is a Starter whose servers cannot copy one another's data: the start wrappers do it. It performs no IO.
// A server that finds a CopyRequest in its data directory ends. Its wrapper fetches the donor's data, and puts them in place in one step.
type Copier interface {
	// Give is how a running server's data are written to the standard output, while it goes on. password is that of
	// wire.AccountAdmin.
	Give(argv []string, p GiveParams, password string) Give
	// Take is how they are read from the standard input into an empty folder.
	Take(dir string) []string
	// Finish is how that folder becomes a data directory.
	Finish(dir string) []string
	// Notes are the files, by name, that the copy needs beside what it was given. read returns a file of the folder.
	Notes(r CopyRequest, read func(name string) (string, error)) (map[string]string, error)
}

// GiveParams are what giving a copy needs to know.
type GiveParams struct {
	Socket     string
	DataDir    string
	TargetDir  string // an empty folder, for what is not streamed
	SecretFile string
}

// Give is a command and the file that it reads, which holds a password.
type Give struct {
	Argv   []string
	Secret string // the content of GiveParams.SecretFile
}

// CopyRequest is what the data of a server are to be replaced by.
type CopyRequest struct {
	Name string `json:"name"` // of the donor
	Host string `json:"host"`
	Port int    `json:"port"` // of the donor's wrapper
	Note string `json:"note"` // the engine's own
}

// CopyFigures are what making a copy took: until the data were whole, and the bytes of them that were received.
type CopyFigures struct {
	Milliseconds  int64 `json:"milliseconds"`
	ReceivedBytes int64 `json:"receivedBytes"`
}

// Files of a data directory.
const (
	CopyRequestFile = "replab-copy-request" // a CopyRequest as JSON, until it was carried out or has failed
	CopyFiguresFile = "replab-copy-figures" // CopyFigures as JSON, in data that are a copy
	CopyStateFile   = "replab-copy-state"   // empty for data that are a copy; else why the copy that was last asked for failed
)
